// RUN: tinyc-opt --nvvm-to-ptx=line-info=true %s | filecheck %s
// RUN: tinyc-opt --nvvm-to-ptx %s | filecheck %s --check-prefix=WITHOUT

// With line-info each instruction says which line of this file it comes from.
// CHECK-LABEL: .visible .entry fill(
// CHECK: .loc{{\s+}}1 17 {{[0-9]+}}
// CHECK-NEXT: st.global.b32 {{.*}}, 1065353216;
// CHECK-NEXT: .loc{{\s+}}1 18 {{[0-9]+}}
// CHECK-NEXT: ret;
// CHECK: .file{{\s+}}1 "{{.*}}line_info.mlir"
// WITHOUT-LABEL: .visible .entry fill(
// WITHOUT-NOT: .loc
// WITHOUT: ret;
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  llvm.func @fill(%y: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %one, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}
