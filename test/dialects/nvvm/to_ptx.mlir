// RUN: tinyc-opt --nvvm-to-ptx --split-input-file %s | filecheck %s
// RUN: tinyc-opt --nvvm-to-ptx --canonicalize --split-input-file %s | filecheck %s --check-prefix=BINARY

// As the last pass it prints PTX: all kernels of a gpu.module in one text, for its target.
// CHECK: .version 8.0
// CHECK: .target sm_80
// CHECK: .address_size 64
// CHECK: .visible .entry add(
// CHECK-NEXT: .param .u64 .ptr .global .align 64 add_param_0,
// CHECK-NEXT: .param .u64 .ptr .global .align 64 add_param_1
// CHECK-NEXT: )
// CHECK-NEXT: .reqntid 32, 1, 1
// CHECK: mov.u32 %[[TID:r[0-9]+]], %tid.x
// CHECK: ld.global.nc.b32
// CHECK: add.rn.f32
// CHECK: st.global.b32
// CHECK: ret;
// CHECK: .visible .entry nothing()
// Not the last, it leaves the text in the module, and nothing that differs from run to run.
// BINARY: func.func @main
// BINARY: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">, assembly = "//\0A
// BINARY-SAME: .visible .entry add(
// BINARY-NOT: gpu.module
func.func @main() {
  return
}
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  llvm.func @add(%x: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.readonly},
                 %y: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias})
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = llvm.getelementptr %x[%0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %2 = llvm.load %1 : !llvm.ptr<1> -> f32
    %3 = llvm.fadd %2, %2 : f32
    %4 = llvm.getelementptr %y[%0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %3, %4 : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @nothing() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// Products and sums are rounded one by one; what is fused says so.
// CHECK: .target sm_90a
// CHECK-LABEL: .visible .entry rounding(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @rounding(%y: !llvm.ptr<1>, %a: f32, %b: f32, %c: f32) attributes {nvvm.kernel} {
    %0 = llvm.fmul %a, %b : f32
    %1 = llvm.fadd %0, %c : f32
    %2 = llvm.intr.fma(%1, %b, %c) : (f32, f32, f32) -> f32
    llvm.store %2, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}
