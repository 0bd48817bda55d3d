// A dialect's IRDL is itself IR, which tinyc-opt reads.
// RUN: tinyc-opt --emit-irdl=tiny | tinyc-opt | filecheck %s
// RUN: not tinyc-opt --emit-irdl=tinny 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK: irdl.dialect @tiny
// CHECK: irdl.attribute @dims
// CHECK: irdl.operation @permute
// UNKNOWN: error: --emit-irdl: tinyc has no dialect 'tinny'; did you mean 'tiny'? [TC315 InvalidOption]
