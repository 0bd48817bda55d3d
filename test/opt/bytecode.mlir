// IR goes in and out as bytecode, with the names of values and with locations.
// RUN: tinyc-opt --emit-bytecode %s -o %t.mlirbc
// RUN: tinyc-opt %t.mlirbc | filecheck %s
// RUN: tinyc-opt --mlir-print-debuginfo %t.mlirbc | filecheck %s --check-prefix=LOCATIONS
// From stdin, to stdout, and with passes on the way.
// RUN: cat %t.mlirbc | tinyc-opt | filecheck %s
// RUN: tinyc-opt --cse --emit-bytecode < %t.mlirbc | tinyc-opt --tiny-to-region | filecheck %s --check-prefix=REGION
// It is one input, also where text would be split, and what is expected of it stands nowhere.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %t.mlirbc | filecheck %s
// The commands of tinyc read it, too.
// RUN: tinyc compile %t.mlirbc --dump=tiny --dump-dir=%t.dump
// RUN: filecheck %s < %t.dump/01_tiny.mlir
// RUN: tinyc run %t.mlirbc --bind M=3 --check
// Unknown dialects are refused as in text.
// RUN: echo '"x.y"() : () -> ()' | tinyc-opt --allow-unregistered-dialect --emit-bytecode -o %t.unknown.mlirbc
// RUN: tinyc-opt --allow-unregistered-dialect %t.unknown.mlirbc | filecheck %s --check-prefix=ALLOWED
// RUN: not tinyc-opt %t.unknown.mlirbc 2>&1 | filecheck %s --check-prefix=UNKNOWN
// What is no single module, or no IR, is not written as bytecode, and bytecode is no reproducer.
// RUN: not tinyc-opt --emit-bytecode --split-input-file %s 2>&1 | filecheck %s --check-prefix=SPLIT
// RUN: not tinyc-opt --tiny-to-region --region-plan --region-to-gpu --gpu-to-cuda --emit-bytecode %s 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: not tinyc-opt --run-reproducer %t.mlirbc 2>&1 | filecheck %s --check-prefix=REPRODUCER

// CHECK: func.func @main(%x: !Mx4_f32) -> !Mx4_f32
// CHECK: %y = "tiny.neg"(%x)
// CHECK: return %y
// LOCATIONS: loc("{{.*}}bytecode.mlir":[[# @LINE + 13]]:8)
// LOCATIONS-NOT: mlirbc
// REGION: "region.kernel"()
// REGION: %y_1 = "tiny.neg"(%x_0)
// ALLOWED: "x.y"()
// UNKNOWN: unknown.mlirbc: error: operation being parsed with an unregistered dialect
// SPLIT: error: --emit-bytecode writes one module; leave --split-input-file out [TC315 InvalidOption]
// TEXT: error: --emit-bytecode: --gpu-to-cuda, the last pass, prints no IR [TC315 InvalidOption]
// REPRODUCER: error: the input is not a reproducer

!Mx4_f32 = tensor<?x4xf32, #tiny.dims<["M", 4]>>

func.func @main(%x: !Mx4_f32) -> !Mx4_f32 {
  %y = "tiny.neg"(%x) : (!Mx4_f32) -> !Mx4_f32
  return %y : !Mx4_f32
}
