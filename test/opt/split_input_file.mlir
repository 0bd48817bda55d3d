// Each piece between marker lines is an input of its own; what goes through is printed, also beside one that fails.
// RUN: not tinyc-opt --split-input-file %s 2> %t.err | filecheck %s
// RUN: filecheck %s --check-prefix=ERROR < %t.err

// CHECK: func.func @f()
func.func @f() {
  return
}

// -----

// Line numbers are those of the file.
// ERROR: split_input_file.mlir:[[# @LINE + 2]]:3: error: custom op 'retrn' is unknown
func.func @g() {
  retrn
}

// -----

// CHECK: // -----
// CHECK-NEXT: module {
// CHECK-NEXT: func.func @f()
func.func @f() {
  return
}
