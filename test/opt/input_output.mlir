// The input is a file, or stdin when there is none or it is called "-".
// RUN: %alone tinyc-opt %s | filecheck %s
// RUN: cat %s | %alone tinyc-opt | filecheck %s
// RUN: cat %s | %alone tinyc-opt - | filecheck %s

// The IR goes to stdout or to a file, and then not to stdout.
// RUN: %alone tinyc-opt %s -o %t.out > %t.stdout
// RUN: filecheck %s < %t.out
// RUN: filecheck %s --check-prefix=NOTHING --allow-empty < %t.stdout
// RUN: %alone tinyc-opt -o=- %s | filecheck %s

// NOTHING-NOT: {{.}}
// CHECK: func.func @f()
func.func @f() {
  return
}
