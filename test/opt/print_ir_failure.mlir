// What a failed pass left behind is printed on demand.
// RUN: not %sample-opt --sample-rename --sample-break --mlir-print-ir-after-failure %s 2>&1 | filecheck %s
// RUN: %sample-opt --sample-rename --mlir-print-ir-after-failure %s 2>&1 | filecheck %s --check-prefix=SUCCESS

// CHECK-NOT: SampleRename
// CHECK: // -----// IR Dump After SampleBreak Failed (sample-break) //----- //
// CHECK-COUNT-2: sym_name = "same"
// CHECK: error: pass 'sample-break' failed
// SUCCESS-NOT: IR Dump
func.func @f() {
  return
}
func.func @g() {
  return
}
