// A pass that finds nothing of what it works on leaves the module alone, and warns.
// RUN: tinyc-opt --tiny-to-region %s 2>&1 | filecheck %s --check-prefix=TINY
// RUN: tinyc-opt --region-to-gpu %s 2>&1 | filecheck %s --check-prefix=REGION
// The remark of it can be had as JSON.
// RUN: tinyc-opt --region-to-gpu --remarks-json=- %s 2>&1 | filecheck %s --check-prefix=JSON
// What the last pass was to print is missing: that is an error.
// RUN: not tinyc-opt --gpu-to-nvvm --nvvm-to-ptx %s 2>&1 | filecheck %s --check-prefix=PTX
// In front of another pass it is a warning again.
// RUN: tinyc-opt --nvvm-to-ptx --canonicalize %s 2>&1 | filecheck %s --check-prefix=BEFORE

// TINY: warning: no tiny op in the module: --tiny-to-region had nothing to do
// TINY: llvm.func @f()
// REGION: warning: no region.kernel in the module: --region-to-gpu had nothing to do
// JSON: "code": "pass-not-applicable", "kind": "missed"
// PTX: warning: no gpu.module in the module: --gpu-to-nvvm had nothing to do
// PTX: error: --nvvm-to-ptx, the last pass, has nothing to print; give it kernels [TC309 InvalidIr]
// BEFORE: warning: no gpu.module in the module: --nvvm-to-ptx had nothing to do
// BEFORE: llvm.func @f()
llvm.func @f() {
  llvm.return
}
