// The help lists the options, tinyc's passes with their options, and MLIR's own passes by name.
// RUN: %sample-opt --help | filecheck %s
// RUN: tinyc-opt -h | filecheck %s --check-prefix=WALK
// Beside pass flags, or given their names, it explains these in full, with what else is asked of them left aside.
// RUN: %sample-opt --help --sample-rename | filecheck %s --check-prefix=PASS
// RUN: %sample-opt --help=sample-rename | filecheck %s --check-prefix=PASS
// RUN: %sample-opt --sample-rename=times=2 -h | filecheck %s --check-prefix=PASS
// RUN: tinyc-opt --help=region-to-gpu | filecheck %s --check-prefix=OURS
// MLIR's own passes are explained in MLIR's words: what they do, their options, the values to choose from, defaults.
// RUN: tinyc-opt --help --cse | filecheck %s --check-prefix=CSE
// RUN: tinyc-opt --help=cse,canonicalize | filecheck %s --check-prefix=CSE
// RUN: tinyc-opt --help=cse,canonicalize | filecheck %s --check-prefix=CANONICALIZE
// RUN: tinyc-opt --help --affine-loop-tile | filecheck %s --check-prefix=ANCHOR
// RUN: tinyc-opt --help=tosa-to-linalg-pipeline | filecheck %s --check-prefix=PIPELINE
// What is no pass is an error that helps.
// RUN: not tinyc-opt --help=cze 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tinyc-opt --help --region-to-gpy 2>&1 | filecheck %s --check-prefix=FLAG

// CHECK: usage: tinyc-opt
// CHECK: --split-input-file
// CHECK: --sample-rename {{ *}}Rename every function.
// CHECK-NEXT: prefix=…: what names begin with [new_]
// CHECK: --sample-remark {{ *}}Remark on every function.
// CHECK: passes of MLIR's own
// CHECK: --canonicalize {{ *}}Canonicalize operations
// CHECK: --cse {{ *}}Eliminate common sub-expressions

// PASS: --sample-rename
// PASS: Requires:
// PASS-NEXT: 1. Functions.
// PASS: times=…: how often [1]
// PASS-NOT: sample-remark

// WALK: --tiny-to-region
// WALK: --region-to-loops

// OURS: --region-to-gpu
// OURS: Make GPU kernels of the regions.
// OURS: Ensures:
// OURS: arch=…: what to compile for

// CSE: --cse
// CSE-NEXT: Eliminate common sub-expressions
// CSE-NEXT: (MLIR's own, in the words of the bindings, {{.+}})
// CANONICALIZE: --canonicalize
// CANONICALIZE-NEXT: Canonicalize operations
// CANONICALIZE: max-iterations=…: {{.+}} [10]
// CANONICALIZE: region-simplify=…: {{.+}} [normal]
// CANONICALIZE-NEXT: disabled: {{.+}}

// ANCHOR: --affine-loop-tile
// ANCHOR: It works on each func.func.
// ANCHOR: cache-size=…: {{.+}} [512]
// PIPELINE: A pipeline of MLIR's own. It stands for
// PIPELINE-NEXT: func.func(tosa-optional-decompositions)

// UNKNOWN: error: --help: there is no pass 'cze'; did you mean 'cse'
// FLAG: error: --help: there is no pass 'region-to-gpy'; did you mean 'region-to-gpu'
