// Where an input fails, no output file is made, and the exit status says so.
// RUN: rm -f %t.out
// RUN: not tinyc-opt %s -o %t.out 2> %t.err
// RUN: not test -e %t.out
// RUN: filecheck %s < %t.err

// The message stands beside the line that it is about.
// CHECK: no_output_on_failure.mlir:[[# @LINE + 3]]:3: error: custom op 'retrn' is unknown
// CHECK-NEXT: {{^}}  retrn{{$}}
func.func @f() {
  retrn
// CHECK-NEXT: {{^}}  ^{{$}}
}
