// A malformed pipeline is an error that shows where.
// RUN: not %sample-opt --pass-pipeline="builtin.module(cse" %s 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not %sample-opt --pass-pipeline="cse,,cse" %s 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not %sample-opt --pass-pipeline="canonicalize{max-iterations=1" %s 2>&1 | filecheck %s --check-prefix=BRACE
// A pass of tinyc's works on the module.
// RUN: not %sample-opt --pass-pipeline="func.func(sample-rename)" %s 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: not %sample-opt --pass-pipeline="sample-rename{times=1 times=2}" %s 2>&1 | filecheck %s --check-prefix=TWICE
// There is one way to say what runs.
// RUN: not tinyc-opt --pass-pipeline=cse --cse %s 2>&1 | filecheck %s --check-prefix=MIXED
// A nested pass that finds no op of its kind does nothing.
// RUN: tinyc-opt --pass-pipeline="gpu.module(cse)" %s | filecheck %s --check-prefix=ABSENT

// OPEN: error: pipeline: expected ',' or ')' at column 19: builtin.module(cse⟨here⟩ [TC316 InvalidPipeline]
// EMPTY: error: pipeline: expected the name of a pass at column 5: cse,⟨here⟩,cse
// BRACE: error: pipeline: expected '}' at column 13
// NESTED: error: 'sample-rename' works on whole modules; take it out of 'func.func(…)' [TC316 InvalidPipeline]
// TWICE: error: pass options 'times=1 times=2' give 'times' twice [TC315 InvalidOption]
// MIXED: error: --pass-pipeline and pass flags cannot be mixed; put all passes into one [TC315 InvalidOption]
// ABSENT: func.func @f()
func.func @f() {
  return
}
