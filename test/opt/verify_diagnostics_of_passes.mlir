// What passes report is checked too: all errors of a refusal, and remarks, which may be expected and need not be.
// RUN: %sample-opt --sample-remark --sample-refuse --verify-diagnostics %s
// RUN: not %sample-opt --sample-remark --verify-diagnostics %s 2>&1 | filecheck %s

// CHECK: error: expected error "refuse f [TC109 NonScop]" was not produced
// CHECK: error: expected error "refuse g" was not produced
// CHECK-NOT: expected remark

// expected-error @+2 {{refuse f [TC109 NonScop]}}
// expected-remark @+1 {{saw f [seen]}}
func.func @f() {
  return
}

// expected-error @below {{refuse g}}
func.func @g() {
  return
}
