// Flags, passes and options that do not exist, and values that do not fit, are errors that help.
// RUN: not %sample-opt --sample-renam %s 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: not tinyc-opt --csee %s 2>&1 | filecheck %s --check-prefix=OF-MLIR
// RUN: not tinyc-opt --pass-pipeline=csee %s 2>&1 | filecheck %s --check-prefix=PASS-OF-MLIR
// RUN: not tinyc-opt --mlir-print-ir-after=csee %s 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: not %sample-opt --pass-pipeline=sample-renam %s 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not %sample-opt --sample-rename=prefx=a %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not %sample-opt --sample-rename=times=two %s 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not %sample-opt --sample-rename=shout=yes %s 2>&1 | filecheck %s --check-prefix=BOOLEAN
// RUN: not tinyc-opt --canonicalize=nope=1 %s 2>&1 | filecheck %s --check-prefix=MLIR
// RUN: not tinyc-opt --verify-each=perhaps %s 2>&1 | filecheck %s --check-prefix=EACH
// RUN: not tinyc-opt -o 2>&1 | filecheck %s --check-prefix=NO-VALUE
// RUN: not tinyc-opt %s %s 2>&1 | filecheck %s --check-prefix=TWO

// FLAG: {{^}}error: unknown flag '--sample-renam'; did you mean '--sample-rename'{{.*}}? [TC315 InvalidOption]
// OF-MLIR: {{^}}error: unknown flag '--csee'; did you mean {{.*}}'--cse'{{.*}}? [TC315 InvalidOption]
// PASS-OF-MLIR: error: 'csee' is neither a pass of tinyc's nor one of MLIR's; did you mean 'cse'? [TC310 UnknownPass]
// AFTER: error: --mlir-print-ir-after: there is no pass 'csee'; did you mean 'cse'? [TC310 UnknownPass]
// PASS: error: 'sample-renam' is neither a pass of tinyc's nor one of MLIR's; did you mean 'sample-rename'{{.*}}? [TC310 UnknownPass]
// OPTION: error: pass 'sample-rename' has no option 'prefx'; did you mean 'prefix'? [TC315 InvalidOption]
// VALUE: error: option 'times' of pass 'sample-rename' is 'two'; give an integer [TC315 InvalidOption]
// BOOLEAN: error: option 'shout' of pass 'sample-rename' is 'yes'; give true or false
// MLIR: error: MLIR refuses 'canonicalize{nope=1}'{{.*}} [TC315 InvalidOption]
// EACH: error: argument --verify-each: 'perhaps' is neither true nor false
// NO-VALUE: error: argument -o: expected one argument
// TWO: error: unrecognized arguments{{.*}} [TC315 InvalidOption]
func.func @f() {
  return
}
