// Options of a pass stand after its flag, spelled as in mlir-opt.
// RUN: %sample-opt --sample-rename %s | filecheck %s -DNAME=new_f
// RUN: %sample-opt --sample-rename=prefix=a_ %s | filecheck %s -DNAME=a_f
// RUN: %sample-opt --sample-rename="prefix=a_ times=2" %s | filecheck %s -DNAME=a_a_f
// RUN: %sample-opt --sample-rename="shout" --sample-rename %s | filecheck %s -DNAME=new_NEW_F
// RUN: %sample-opt "--sample-rename={prefix=a_ shout=true}" %s | filecheck %s -DNAME=A_F
// RUN: tinyc-opt --canonicalize="max-iterations=3" --dump-pass-pipeline %s 2>&1 | filecheck %s --check-prefix=MLIR

// MLIR: builtin.module(canonicalize{{.*}}max-iterations=3

// CHECK: func.func @[[NAME]]()
func.func @f() {
  return
}
