// The printed IR can go to numbered files of a folder.
// RUN: rm -rf %t
// RUN: %sample-opt --cse --sample-rename --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t/tree %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty
// RUN: filecheck %s --check-prefix=FIRST < %t/tree/0_cse.mlir
// RUN: filecheck %s --check-prefix=SECOND < %t/tree/1_sample-rename.mlir

// NOTHING-NOT: {{.}}
// FIRST: func.func @f()
// SECOND: func.func @new_f()
func.func @f() {
  return
}
