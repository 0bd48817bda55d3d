// What gathers, scatters and their like refuse.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4x6xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{axis 2 is none of the 2 axes of fp32 [4, 6]; choose one from -2 to 1}}
  %0 = "frontend.gather"(%x, %i) {axis = 2 : i64, kind = "axis"} : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{the index has 1 axes and the data 2; give as many}}
  %0 = "frontend.gather"(%x, %i) {kind = "elements"} : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<2x3xi64>) {
  // expected-error @below {{an index of 3 numbers behind 0 batch axes chooses from no more axes; fp32 [4, 6] has 2}}
  %0 = "frontend.gather"(%x, %i) {kind = "nd"} : (tensor<4x6xf32>, tensor<2x3xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{reduction is 'mean'; it is one of none, add, mul, max, min}}
  %0 = "frontend.scatter"(%x, %i, %u) {kind = "elements", reduction = "mean"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{k = 5 is larger than axis 0 of fp32 [4]}}
  %0:2 = "frontend.topk"(%x) {k = 5 : i64} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis 1 is none of the 1 axes of fp32 [4]; choose one from -1 to 0}}
  %0 = "frontend.arg_max"(%x) {axis = 1 : i64} : (tensor<4xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis -2 is none of the 1 axes of fp32 [4]; choose one from -1 to 0}}
  %0 = "frontend.arg_min"(%x) {axis = -2 : i64} : (tensor<4xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @f(%i: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @below {{axis 2 is none of the 2 axes of the result, whose shape has 2}}
  %0 = "frontend.one_hot"(%i, %v) {axis = 2 : i64, shape = [2, 5]} : (tensor<2xi64>, tensor<2xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %l: tensor<3xi64>) {
  // expected-error @below {{axis 0 of i64 [3] and axis 0 of fp32 [2, 4] must be equal; they are 3 and 2}}
  %0 = "frontend.reverse_sequence"(%x, %l) {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x6xf32>, %u: tensor<2x1x6xf32>) {
  // expected-error @below {{mode is 'sparse'; it is 'linear' or 'circular'}}
  %0 = "frontend.tensor_scatter"(%x, %u) {mode = "sparse"} : (tensor<2x4x6xf32>, tensor<2x1x6xf32>) -> tensor<2x4x6xf32>
  return
}
