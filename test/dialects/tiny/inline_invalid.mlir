// What --tiny-inline refuses: recursion, functions without bodies, and more than one program.
// RUN: tinyc-opt --tiny-inline --split-input-file --verify-diagnostics %s

// Functions that call each other: the cycle is named, at one of its calls.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{@f calls @g calls @f; a program is a graph without recursion [TC306 CyclicGraph]}}
  %1 = call @g(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function that calls itself.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{@main calls @main; a program is a graph without recursion [TC306 CyclicGraph]}}
  %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function that is elsewhere.
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{@elsewhere is called and has no body; write it in this module [TC309 InvalidIr]}}
  %0 = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two functions that no other calls, and none is @main.
// expected-error @unknown {{the module needs one function to run, called @main; it has @f, @g [TC309 InvalidIr]}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
