// The dumped pipeline goes to stderr, has every option of MLIR's passes, and gives itself when it is run.
// RUN: %sample-opt --sample-rename="prefix='a b' times=2" --cse --dump-pass-pipeline %s 2>&1 >/dev/null | filecheck %s
// RUN: %sample-opt --pass-pipeline="builtin.module(sample-rename{prefix='a b' times=2},cse)" --dump-pass-pipeline %s 2>&1 >/dev/null | filecheck %s

// A pass of MLIR's that works on another op is nested in it, as in mlir-opt.
// RUN: tinyc-opt --llvm-request-c-wrappers --dump-pass-pipeline %s 2>&1 >/dev/null | filecheck %s --check-prefix=NESTED

// CHECK: Pass Manager with 2 passes:
// CHECK-NEXT: {{^}}builtin.module(sample-rename{prefix="a b" times=2},cse){{$}}

// NESTED: {{^}}builtin.module(func.func(llvm-request-c-wrappers)){{$}}
func.func @f() {
  return
}
