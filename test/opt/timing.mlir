// The time of each pass stands in mlir-opt's table, on stderr.
// RUN: %sample-opt --sample-rename --cse --mlir-timing %s 2>&1 >/dev/null | filecheck %s

// CHECK: ... Execution time report ...
// CHECK: Total Execution Time: {{[0-9.]+}} seconds
// CHECK: ----Wall Time----  ----Name----
// CHECK-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  Parser
// CHECK-NEXT: SampleRename
// CHECK-NEXT: cse
// CHECK-NEXT: Output
// CHECK-NEXT: Rest
// CHECK-NEXT: (100.0%)  Total
func.func @f() {
  return
}
