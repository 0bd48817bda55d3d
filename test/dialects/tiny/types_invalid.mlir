// What is not the type of a Tiny value.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// Tiny values are tensors.
func.func @f(%x: f32) {
  // expected-error @below {{'tiny.relu' f32 is not a ranked tensor; Tiny values are tensors [TC111 InvalidAttribute]}}
  %0 = "tiny.relu"(%x) : (f32) -> f32
  return
}

// -----

// A tensor has a rank.
func.func @f(%x: tensor<*xf32>) {
  // expected-error @below {{'tiny.relu' tensor<*xf32> is not a ranked tensor; Tiny values are tensors [TC111 InvalidAttribute]}}
  %0 = "tiny.relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

// An element type that Tiny does not have.
func.func @f(%x: tensor<4xindex>) {
  // expected-error @below {{'tiny.relu' tensor<4xindex>: index is not an element type; use f16, bf16, f32, f64, i8, i16, i32, i64, ui8, ui16, ui32, ui64, i1 [TC102 DtypeMismatch]}}
  %0 = "tiny.relu"(%x) : (tensor<4xindex>) -> tensor<4xindex>
  return
}

// -----

// A dynamic extent has a name.
func.func @f(%x: tensor<?xf32>) {
  // expected-error @below {{'tiny.relu' tensor<?xf32> has unnamed extents; name them with #tiny.dims<["M", …]> [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// Another encoding.
func.func @f(%x: tensor<4xf32, "row-major">) {
  // expected-error @below {{'tiny.relu' tensor<4xf32, "row-major">: the encoding must be #tiny.dims<[…]>, not "row-major" [TC111 InvalidAttribute]}}
  %0 = "tiny.relu"(%x) : (tensor<4xf32, "row-major">) -> tensor<4xf32, "row-major">
  return
}

// -----

// An extent for each axis.
func.func @f(%x: tensor<?x3xf32, #tiny.dims<["M"]>>) {
  // expected-error @below {{#tiny.dims must list an extent for each of the axes [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<?x3xf32, #tiny.dims<["M"]>>) -> tensor<?x3xf32, #tiny.dims<["M"]>>
  return
}

// -----

// ? exactly where the extent is symbolic.
func.func @f(%x: tensor<4x?xf32, #tiny.dims<["M", "N"]>>) {
  // expected-error @below {{axis 0 is 4 in the shape and M in #tiny.dims; write ? exactly where the extent is symbolic [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<4x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<4x?xf32, #tiny.dims<["M", "N"]>>
  return
}

// -----

// ? is never a number.
func.func @f(%x: tensor<?x?xf32, #tiny.dims<["M", 3]>>) {
  // expected-error @below {{axis 1 is ? in the shape and 3 in #tiny.dims; write ? exactly where the extent is symbolic [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<?x?xf32, #tiny.dims<["M", 3]>>) -> tensor<?x?xf32, #tiny.dims<["M", 3]>>
  return
}

// -----

// Two numbers that differ.
func.func @f(%x: tensor<?x4xf32, #tiny.dims<["M", 3]>>) {
  // expected-error @below {{axis 1 is 4 in the shape and 3 in #tiny.dims}}
  %0 = "tiny.relu"(%x) : (tensor<?x4xf32, #tiny.dims<["M", 3]>>) -> tensor<?x4xf32, #tiny.dims<["M", 3]>>
  return
}

// -----

// A static tensor carries no extents.
func.func @f(%x: tensor<4xf32, #tiny.dims<[4]>>) {
  // expected-error @below {{is static and must carry no #tiny.dims [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<4xf32, #tiny.dims<[4]>>) -> tensor<4xf32, #tiny.dims<[4]>>
  return
}

// -----

// Equal extents have equal text.
func.func @f(%x: tensor<?xf32, #tiny.dims<["M + M"]>>) {
  // expected-error @below {{the extents are not in canonical form; write #tiny.dims<["2*M"]> [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<?xf32, #tiny.dims<["M + M"]>>) -> tensor<?xf32, #tiny.dims<["M + M"]>>
  return
}

// -----

// Text that is no extent.
func.func @f(%x: tensor<?xf32, #tiny.dims<["M +"]>>) {
  // expected-error @below {{'tiny.relu' cannot read the extent 'M +': unexpected the end [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<?xf32, #tiny.dims<["M +"]>>) -> tensor<?xf32, #tiny.dims<["M +"]>>
  return
}

// -----

// An entry that is no extent.
func.func @f(%x: tensor<?xf32, #tiny.dims<[true]>>) {
  // expected-error @below {{'tiny.relu' true is not an extent; write an integer or text such as "M + 1" [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<?xf32, #tiny.dims<[true]>>) -> tensor<?xf32, #tiny.dims<[true]>>
  return
}

// -----

// More elements than 64 bits address.
func.func @f(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @below {{'tiny.relu' fp32 [4294967296, 4294967296] has 18446744073709551616 elements or more; an index of 64 bits cannot address them [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

// 33 axes.
func.func @f(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @below {{'tiny.relu' a tensor of rank 33 is not supported; the limit is 32 [TC114 InvalidExtent]}}
  %0 = "tiny.relu"(%x) : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return
}
