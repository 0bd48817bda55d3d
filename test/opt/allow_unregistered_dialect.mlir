// Ops of unknown dialects are refused, unless they are allowed.
// RUN: not tinyc-opt %s 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: tinyc-opt --allow-unregistered-dialect %s | filecheck %s

// REFUSED: error: operation being parsed with an unregistered dialect
// CHECK: "somewhere.else"
"somewhere.else"() : () -> ()
