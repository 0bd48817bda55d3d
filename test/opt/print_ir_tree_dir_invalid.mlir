// A folder that cannot be made is named.
// RUN: echo "" > %t.file
// RUN: not tinyc-opt --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.file/tree %s 2>&1 | filecheck %s

// CHECK: 0_cse.mlir: error: cannot write the file: Not a directory [TC308 UnreadableFile]
func.func @f() {
  return
}
