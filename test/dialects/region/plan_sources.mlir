// Plans from outside: one for the regions that it fits, a table by region key, and what becomes of those that fit none.
// RUN: tinyc-opt --region-plan --remarks-json=%t.json %s > /dev/null
// RUN: filecheck %s --check-prefix=KEY < %t.json
// RUN: tinyc-opt --region-plan='plan="{\"1a0b0d544b4ab321\": {\"arch\": \"sm80_or_sm90\"}}"' %s | filecheck %s --check-prefix=TABLE
// RUN: not tinyc-opt --region-plan='plan="{\"0123456789abcdef\": {\"stages\": 1}}"' %s 2>&1 | filecheck %s --check-prefix=UNUSED
// RUN: not tinyc-opt --region-plan='plan="set tile = [64, 64, 32]"' %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not tinyc-opt --region-plan='plan="set scheme = \"mma\""' %s 2>&1 | filecheck %s --check-prefix=SCHEME
// RUN: not tinyc-opt --region-plan='plan="set loop = {\"parallelize\": [0]}"' %s 2>&1 | filecheck %s --check-prefix=FIELD
// RUN: not tinyc-opt --region-plan='plan=%t.none' %s 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not tinyc-opt --region-plan=arch=sm_75 %s 2>&1 | filecheck %s --check-prefix=ARCH

// The remark says what a table calls the region.
// KEY: {"code": "plan-default", {{.*}}"kernel": "copy", "key": "1a0b0d544b4ab321"
// TABLE: plan = {arch = "sm80_or_sm90", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 4 : i64}}
// UNUSED: error: the plan table has the key 0123456789abcdef, and the module has no such region; its regions are 1a0b0d544b4ab321 (@copy) [TC202 PlanMismatch]
// NONE: error: the plan is for scheme 'mma', which accepts no region of the module: @copy (it is not one reduction whose result is written element by element); leave the plan out [TC202 PlanMismatch]
// SCHEME: error: the plan is for scheme 'mma', which accepts no region of the module: @copy (it is not one reduction whose result is written element by element); leave the plan out [TC202 PlanMismatch]
// FIELD: error: the plan of @copy: 'loop' is not used by scheme 'elementwise'
// FILE: error: {{.*}}No such file or directory; give the path of a plan, or its text{{.*}} [TC308 UnreadableFile]
// ARCH: error: 'arch' is 'sm_75', no GPU architecture; choose sm_80 or sm_90a [TC404 UnsupportedTarget]
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy"} : () -> ()
