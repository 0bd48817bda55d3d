// The passes of a file are passes as tinyc's are: flags and names in pipelines, with options and help.
// RUN: tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-rename %s | filecheck %s
// RUN: tinyc-opt --sample-rename="prefix=a_ times=2" %s --load-pass=%S/Inputs/sample_opt.py | filecheck %s --check-prefix=TWICE
// RUN: tinyc-opt --load-pass %S/Inputs/sample_opt.py --pass-pipeline="builtin.module(cse,sample-rename{prefix=a_},sample-rename{prefix=a_})" %s | filecheck %s --check-prefix=TWICE
// RUN: tinyc-opt --load-pass %S/Inputs/sample_opt.py --help | filecheck %s --check-prefix=HELP
// RUN: tinyc-opt --load-pass %S/Inputs/sample_opt.py --help=sample-rename | filecheck %s --check-prefix=PAGE
// They are heard of where passes are, and their options are checked.
// RUN: tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-rename --mlir-print-ir-after=sample-rename --mlir-timing %s 2>&1 | filecheck %s --check-prefix=HEARD
// RUN: not tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-rename=prefx=a %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-rename=times=two %s 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-renam %s 2>&1 | filecheck %s --check-prefix=FLAG
// One that fails says at which line, and at which op; what is wrong is not tinyc's defect.
// RUN: not tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-fail %s 2>&1 | filecheck %s --check-prefix=FAILED
// RUN: not tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-fail --debug %s 2>&1 | filecheck %s --check-prefix=DEBUG
// RUN: echo 'func.func @f() { return }' | not tinyc-opt --load-pass %S/Inputs/sample_opt.py --sample-undeclared 2>&1 | filecheck %s --check-prefix=UNDECLARED
// A file twice is a file once; without it, its passes are unknown.
// RUN: tinyc-opt --load-pass %S/Inputs/sample_opt.py --load-pass %S/Inputs/sample_opt.py --sample-rename %s | filecheck %s
// RUN: not tinyc-opt --sample-rename %s 2>&1 | filecheck %s --check-prefix=WITHOUT

// CHECK: func.func @new_main(
// TWICE: func.func @a_a_main(
// HELP: passes, in walk order:
// HELP: own passes:
// HELP-NEXT: --sample-rename {{ *}}Rename every function.
// HELP-NEXT: prefix=…: what names begin with [new_]
// HELP: --sample-fail
// PAGE: --sample-rename
// PAGE: Requires:
// PAGE-NEXT: 1. Functions.
// PAGE: prefix=…: what names begin with [new_]
// PAGE-NEXT: times=…: how often
// HEARD: IR Dump After SampleRename (sample-rename)
// HEARD: SampleRename
// OPTION: error: pass 'sample-rename' has no option 'prefx'; did you mean 'prefix'?
// VALUE: error: option 'times' of pass 'sample-rename' is 'two'; give an integer
// FLAG: error: unknown flag '--sample-renam'; did you mean '--sample-rename'
// FAILED-NOT: Traceback
// FAILED: load_pass.mlir:[[# @LINE + 14]]:8: error: node 'y': pass 'sample-fail' failed: ZeroDivisionError: one over nothing at tiny.neg
// FAILED-SAME: raised at {{.*}}sample_opt.py:78; --debug shows the traceback; to repeat it:
// FAILED-SAME: tinyc-opt --load-pass {{.*}}sample_opt.py --run-reproducer {{.*}}.mlir [TC314 FailedPass]
// FAILED-NOT: Traceback
// DEBUG: Traceback (most recent call last):
// DEBUG: sample_opt.py", line 78, in run
// DEBUG: ZeroDivisionError: one over nothing at tiny.neg
// UNDECLARED: error: pass 'sample-undeclared' failed: it made ops of tiny and does not declare them; to repeat it:
// UNDECLARED-SAME: [TC314 FailedPass]
// WITHOUT: error: unknown flag '--sample-rename'

!Mx4_f32 = tensor<?x4xf32, #tiny.dims<["M", 4]>>

func.func @main(%x: !Mx4_f32) -> !Mx4_f32 {
  %y = "tiny.neg"(%x) : (!Mx4_f32) -> !Mx4_f32
  return %y : !Mx4_f32
}
