// An empty text is an empty module.
// RUN: echo -n "" | tinyc-opt | filecheck %s

// CHECK: module {
// CHECK-NEXT: }
