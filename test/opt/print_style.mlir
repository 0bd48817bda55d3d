// The flags of mlir-opt's printer: the generic form of ops, no aliases, and what is left out of long attributes.
// RUN: tinyc-opt %s | filecheck %s
// RUN: tinyc-opt --mlir-print-op-generic %s | filecheck %s --check-prefix=GENERIC
// RUN: tinyc-opt --mlir-print-local-scope --mlir-print-debuginfo %s | filecheck %s --check-prefix=LOCAL
// RUN: tinyc-opt --mlir-elide-elementsattrs-if-larger=3 %s | filecheck %s --check-prefix=ELEMENTS
// RUN: tinyc-opt --mlir-elide-elementsattrs-if-larger=4 %s | filecheck %s
// RUN: tinyc-opt --mlir-elide-resource-strings-if-larger=43 %s | filecheck %s --check-prefix=RESOURCES
// RUN: tinyc-opt --mlir-elide-resource-strings-if-larger=44 %s | filecheck %s
// Whatever is printed, tinyc-opt reads.
// RUN: tinyc-opt --mlir-print-op-generic %s | tinyc-opt | filecheck %s
// RUN: tinyc-opt --mlir-print-local-scope %s | tinyc-opt | filecheck %s --check-prefix=AGAIN
// RUN: tinyc-opt --mlir-elide-elementsattrs-if-larger=3 %s | tinyc-opt | filecheck %s --check-prefix=ELEMENTS
// They hold for the IR around passes, too.
// RUN: tinyc-opt --cse --mlir-print-ir-before=cse --mlir-print-op-generic %s -o %t 2>&1 | filecheck %s --check-prefix=GENERIC
// A limit is a number.
// RUN: not tinyc-opt --mlir-elide-elementsattrs-if-larger=few %s 2>&1 | filecheck %s --check-prefix=LIMIT

// CHECK: #[[MAP:.*]] = affine_map<(d0) -> (d0 + 1, d0 * 2)>
// CHECK: ![[TYPE:.*]] = tensor<?x?xf32, #tiny.dims<["M", "K"]>>
// CHECK: func.func @f(%x: ![[TYPE]]) -> ![[TYPE]]
// CHECK-SAME: a.dense = dense<[1, 2, 3, 4]>
// CHECK-SAME: a.map = #[[MAP]]
// CHECK-SAME: a.same = #[[MAP]]
// CHECK-SAME: a.splat = dense<0> : tensor<100xi32>
// CHECK: blob: "0x0400000001000000020000000300000004000000"
// GENERIC: "builtin.module"() ({
// GENERIC: "func.func"() <{function_type = (!{{.*}}) -> !{{.*}}, sym_name = "f"}> ({
// GENERIC: "func.return"(%y)
// LOCAL-NOT: {{^[#!]}}
// LOCAL: func.func @f(%x: tensor<?x?xf32, #tiny.dims<["M", "K"]>> loc("x"("{{.*}}print_style.mlir":[[# @LINE + 15]]:14)))
// LOCAL-SAME: a.map = affine_map<(d0) -> (d0 + 1, d0 * 2)>
// LOCAL-NOT: {{^[#!]}}
// AGAIN: func.func @f(%x: !MxK_f32) -> !MxK_f32
// ELEMENTS: a.dense = dense_resource<__elided__> : tensor<4xi32>
// ELEMENTS-SAME: a.splat = dense<0> : tensor<100xi32>
// ELEMENTS: blob: "0x04
// RESOURCES: a.dense = dense<[1, 2, 3, 4]>
// RESOURCES-SAME: a.resource = dense_resource<blob>
// RESOURCES-NOT: 0x04
// LIMIT: error: argument --mlir-elide-elementsattrs-if-larger: 'few' is no limit; give an integer from 0 on

#map = affine_map<(d0) -> (d0 + 1, d0 * 2)>
!t = tensor<?x?xf32, #tiny.dims<["M", "K"]>>

func.func @f(%x: !t) -> !t attributes {a.map = #map, a.same = #map, a.dense = dense<[1, 2, 3, 4]> : tensor<4xi32>,
    a.resource = dense_resource<blob> : tensor<4xi32>, a.splat = dense<0> : tensor<100xi32>} {
  %y = "tiny.neg"(%x) : (!t) -> !t
  return %y : !t
}

{-# dialect_resources: {builtin: {blob: "0x0400000001000000020000000300000004000000"}} #-}
