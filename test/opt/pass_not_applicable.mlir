// A pass that finds nothing of the layer that it reads leaves the module alone, and remarks on it.
// RUN: tinyc-opt --tiny-to-region --remarks %s 2>&1 | filecheck %s

// CHECK: remark: 'tiny-to-region' finds no tiny op [pass-not-applicable]
// CHECK: llvm.func @f()
llvm.func @f() {
  llvm.return
}
