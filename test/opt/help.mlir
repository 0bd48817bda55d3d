// The help lists the options, and tinyc's passes with their options; beside pass flags it explains these in full.
// RUN: %sample-opt --help | filecheck %s
// RUN: %sample-opt --help --sample-rename | filecheck %s --check-prefix=PASS
// RUN: tinyc-opt -h | filecheck %s --check-prefix=WALK

// CHECK: usage: tinyc-opt
// CHECK: --split-input-file
// CHECK: --sample-rename {{ *}}Rename every function.
// CHECK-NEXT: prefix=…: what names begin with [new_]
// CHECK: --sample-remark {{ *}}Remark on every function.

// PASS: --sample-rename
// PASS: Requires:
// PASS-NEXT: 1. Functions.
// PASS: times=…: how often [1]
// PASS-NOT: sample-remark

// WALK: --tiny-to-region
// WALK: --region-to-loops
