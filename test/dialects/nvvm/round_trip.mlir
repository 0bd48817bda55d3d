// A barrier with a location reads back: MLIR's own syntax for it does not.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s
// RUN: tinyc-opt --mlir-print-debuginfo %s | tinyc-opt | filecheck %s
// RUN: tinyc-opt --mlir-generate-reproducer=%t.mlir --nvvm-to-ptx %s | filecheck %s --check-prefix=PTX
// RUN: tinyc-opt --run-reproducer %t.mlir | filecheck %s --check-prefix=PTX

// CHECK-LABEL: llvm.func @wait
// CHECK-NEXT: nvvm.barrier
// CHECK-NEXT: llvm.return
// PTX: .entry wait
// PTX: {{bar|barrier}}.sync
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  llvm.func @wait() attributes {nvvm.kernel} {
    nvvm.barrier
    llvm.return
  }
}
