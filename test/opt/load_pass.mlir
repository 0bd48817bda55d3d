// The passes of a file are passes as tinyc's are: flags and names in pipelines, with options and help.
// RUN: tinyc-opt --load-pass %S/Inputs/own_passes.py --own-rename %s | filecheck %s
// RUN: tinyc-opt --own-rename="suffix=_a times=2" %s --load-pass=%S/Inputs/own_passes.py | filecheck %s --check-prefix=TWICE
// RUN: tinyc-opt --load-pass %S/Inputs/own_passes.py --pass-pipeline="builtin.module(cse,own-rename{suffix=_a},own-rename{suffix=_a})" %s | filecheck %s --check-prefix=TWICE
// RUN: tinyc-opt --load-pass %S/Inputs/own_passes.py --help | filecheck %s --check-prefix=HELP
// RUN: tinyc-opt --load-pass %S/Inputs/own_passes.py --help=own-rename | filecheck %s --check-prefix=PAGE
// They are heard of where passes are, and their options are checked.
// RUN: tinyc-opt --load-pass %S/Inputs/own_passes.py --own-rename --mlir-print-ir-after=own-rename --mlir-timing %s 2>&1 | filecheck %s --check-prefix=HEARD
// RUN: not tinyc-opt --load-pass %S/Inputs/own_passes.py --own-rename=sufix=a %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not tinyc-opt --load-pass %S/Inputs/own_passes.py --own-rename=times=two %s 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not tinyc-opt --load-pass %S/Inputs/own_passes.py --own-renam %s 2>&1 | filecheck %s --check-prefix=FLAG
// One that fails says at which line, and at which op; what is wrong is not tinyc's defect.
// RUN: not tinyc-opt --load-pass %S/Inputs/own_passes.py --own-fail %s 2>&1 | filecheck %s --check-prefix=FAILED
// RUN: not tinyc-opt --load-pass %S/Inputs/own_passes.py --own-fail --debug %s 2>&1 | filecheck %s --check-prefix=DEBUG
// RUN: echo 'func.func @f() { return }' | not tinyc-opt --load-pass %S/Inputs/own_passes.py --own-undeclared 2>&1 | filecheck %s --check-prefix=UNDECLARED
// A file twice is a file once; without it, its passes are unknown.
// RUN: tinyc-opt --load-pass %S/Inputs/own_passes.py --load-pass %S/Inputs/own_passes.py --own-rename %s | filecheck %s
// RUN: not tinyc-opt --own-rename %s 2>&1 | filecheck %s --check-prefix=WITHOUT

// CHECK: func.func @main_own(
// TWICE: func.func @main_a_a(
// HELP: passes, in walk order:
// HELP: own passes:
// HELP-NEXT: --own-rename {{ *}}Rename every function.
// HELP-NEXT: suffix=…: what names end with [_own]
// HELP: --own-fail
// PAGE: --own-rename
// PAGE: Requires:
// PAGE-NEXT: 1. Functions.
// PAGE: suffix=…: what names end with [_own]
// PAGE-NEXT: times=…: how often
// HEARD: IR Dump After OwnRename (own-rename)
// HEARD: OwnRename
// OPTION: error: pass 'own-rename' has no option 'sufix'; did you mean 'suffix'?
// VALUE: error: option 'times' of pass 'own-rename' is 'two'; give an integer
// FLAG: error: unknown flag '--own-renam'; did you mean '--own-rename'
// FAILED-NOT: Traceback
// FAILED: load_pass.mlir:[[# @LINE + 14]]:8: error: node 'y': pass 'own-fail' failed: ValueError: 0 negations are enough
// FAILED-SAME: raised at {{.*}}own_passes.py:47; --debug shows the traceback; to repeat it:
// FAILED-SAME: tinyc-opt --load-pass {{.*}}own_passes.py --run-reproducer {{.*}}.mlir [TC314 FailedPass]
// FAILED-NOT: Traceback
// DEBUG: Traceback (most recent call last):
// DEBUG: own_passes.py", line 47, in run
// DEBUG: ValueError: 0 negations are enough
// UNDECLARED: error: pass 'own-undeclared' failed: it made ops of tiny and does not declare them; to repeat it:
// UNDECLARED-SAME: [TC314 FailedPass]
// WITHOUT: error: unknown flag '--own-rename'

!Mx4_f32 = tensor<?x4xf32, #tiny.dims<["M", 4]>>

func.func @main(%x: !Mx4_f32) -> !Mx4_f32 {
  %y = "tiny.neg"(%x) : (!Mx4_f32) -> !Mx4_f32
  return %y : !Mx4_f32
}
