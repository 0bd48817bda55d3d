// RUN: tinyc-opt --stock-printing --exec-expand-divisions --split-input-file %s | filecheck %s

// A division by an extent becomes a call where LLVM may need it earlier: outside of innermost loops, and in one of what
// does not change there. What is made of the loop's counter is divided in place, and so is anything by a constant.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: call @index.remui(%[[ROW]], %{{.*}}) : (index, index) -> index
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: call @index.divui(%[[ROW]], %{{.*}}) : (index, index) -> index
// CHECK: arith.divui %[[COLUMN]],
// CHECK: arith.divui %[[ROW]], %c2
// CHECK: func.func private @index.remui(%[[X:.*]]: index, %[[Y:.*]]: index) -> index attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK: %[[POSITIVE:.*]] = arith.maxui %[[Y]], %{{.*}}
// CHECK: arith.remui %[[X]], %[[POSITIVE]]
// CHECK: func.func private @index.divui(
// CHECK-NOT: func.func
func.func @rows(%m: index, %low: index, %high: index, %to: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %low to %high step %c1 {
    %0 = arith.remui %i, %m : index
    scf.for %k = %c0 to %m step %c1 {
      %is = arith.cmpi ult, %k, %0 : index
      scf.if %is {
        %1 = arith.divui %i, %m : index
        %2 = arith.divui %k, %m : index
        %3 = arith.divui %i, %c2 : index
        memref.store %1, %to[%2] : memref<?xindex>
        memref.store %3, %to[%2] : memref<?xindex>
      }
    }
  }
  return
}

// -----

// Numbers of a program are no indices: their divisions are as `arith` has them.
// CHECK-LABEL: func.func @numbers(
// CHECK: arith.divsi
// CHECK-NOT: func.func
func.func @numbers(%x: i64, %y: i64) -> i64 {
  %0 = arith.divsi %x, %y : i64
  return %0 : i64
}
