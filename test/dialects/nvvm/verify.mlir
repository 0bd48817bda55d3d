// RUN: tinyc-opt --nvvm-to-ptx --split-input-file --verify-diagnostics %s

// What is not known to work is refused; most of these would end the process in LLVM.

// A function without an instruction, a call, a conversion that would be a library call.
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  llvm.func @k(%y: !llvm.ptr<1>, %a: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.intr.sin' is not known to the NVPTX backend; compute it by arithmetic, as tinyc.codegen.software_math does}}
    %0 = llvm.intr.sin(%a) : (f32) -> f32
    // expected-error @+1 {{'llvm.intr.log2' is not known to the NVPTX backend}}
    %1 = llvm.intr.log2(%0) : (f32) -> f32
    // expected-error @+1 {{'math.tanh' is not known to the NVPTX backend}}
    %2 = math.tanh %1 : f32
    // expected-error @+1 {{'llvm.fptosi' on i128: the NVPTX backend is known to take it on i1, i8, i16, i32, i64, f16, bf16, f32, f64}}
    %3 = llvm.fptosi %2 : f32 to i128
    // expected-error @+1 {{'llvm.unreachable' is not known to the NVPTX backend; lower the kernels with --gpu-to-nvvm}}
    llvm.unreachable
  }
}

// -----

// Flags that would round otherwise, orders that no target has, memory of other kinds.
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @k(%y: !llvm.ptr<1>, %a: f32, %b: i64) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.fadd': fastmathFlags is #llvm.fastmath<contract>; it may be #llvm.fastmath<none>}}
    %0 = llvm.fadd %a, %a {fastmathFlags = #llvm.fastmath<contract>} : f32
    // expected-error @+1 {{'llvm.load' has the attribute volatile_; it may have ordering, alignment}}
    %1 = llvm.load volatile %y : !llvm.ptr<1> -> f32
    // expected-error @+1 {{'llvm.atomicrmw': ordering is 7 : i64; it may be 2 : i64}}
    %2 = llvm.atomicrmw add %y, %b syncscope("device") seq_cst : !llvm.ptr<1>, i64
    // expected-error @+1 {{'llvm.inttoptr' on !llvm.ptr<5>: the NVPTX backend is known to take it on}}
    %3 = llvm.inttoptr %b : i64 to !llvm.ptr<5>
    // expected-error @+1 {{'llvm.load' on !llvm.ptr<5>: the NVPTX backend is known to take it on}}
    %4 = llvm.load %3 : !llvm.ptr<5> -> f32
    // expected-error @+1 {{'llvm.load' on vector<3xf16>: the NVPTX backend is known to take it on}}
    %5 = llvm.load %y : !llvm.ptr<1> -> vector<3xf16>
    llvm.return
  }
}

// -----

// A kernel has a name that PTX can spell, returns nothing, and is all that there is.
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  // expected-error @+1 {{'a-b' is not an identifier of PTX; use letters, digits and _, and start with a letter}}
  llvm.func @"a-b"() attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{'WARP_SZ' is not an identifier of PTX}}
  llvm.func @WARP_SZ() attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{'llvm.func' must be a kernel, nvvm.kernel, with a body: nothing calls functions}}
  llvm.func @sinf(f32) -> f32
  // expected-error @+1 {{'llvm.func' is a kernel and must return nothing, not be of type !llvm.func<i32 ()>}}
  llvm.func @number() -> i32 attributes {nvvm.kernel} {
    %0 = llvm.mlir.constant(1 : i32) : i32
    // expected-error @+1 {{'llvm.return' on i32: the NVPTX backend is known to take it on no value}}
    llvm.return %0 : i32
  }
  // expected-error @+1 {{'llvm.func' has the attribute garbageCollector; it may have sym_name}}
  llvm.func @collected() attributes {garbageCollector = "shadow-stack", nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{argument 0 is !llvm.array<2 x f32>; it may be i1, i8, i16, i32, i64, f16, bf16, f32, f64, !llvm.ptr<1>}}
  llvm.func @aggregate(%x: !llvm.array<2 x f32>) attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{argument 0 has the attribute llvm.byref; it may have llvm.align, llvm.noalias, llvm.readonly, llvm.writeonly}}
  llvm.func @reference(%x: !llvm.ptr<1> {llvm.byref = f32}) attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{argument 0: llvm.align is 8589934592 : i64; it may be 1 : i64, 2 : i64, 4 : i64}}
  llvm.func @far_apart(%x: !llvm.ptr<1> {llvm.align = 8589934592 : i64}) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.load': alignment is 8589934592 : i64; it may be 1 : i64, 2 : i64, 4 : i64}}
    %0 = llvm.load %x {alignment = 8589934592 : i64} : !llvm.ptr<1> -> f32
    llvm.return
  }
  // expected-error @+1 {{'llvm.func': nvvm.reqntid is array<i32: -16, 16, 1>; it must be of the form array<i32: }}
  llvm.func @no_threads() attributes {nvvm.kernel, nvvm.reqntid = array<i32: -16, 16, 1>} {
    llvm.return
  }
  // expected-error @+1 {{'llvm.mlir.global' must be an array of scalars in shared memory, without a value}}
  llvm.mlir.global internal @table() {addr_space = 3 : i32} : !llvm.array<2 x array<2 x f32>>
  // expected-error @+1 {{'llvm.mlir.global' has the attribute value; it may have sym_name}}
  llvm.mlir.global internal @filled(dense<0.0> : tensor<4xf32>) {addr_space = 3 : i32} : !llvm.array<4 x f32>
  // expected-error @+1 {{'func.func' is not a part of a gpu.module that goes to the backend; lower the kernels with --gpu-to-nvvm}}
  func.func private @host()
}

// -----

// A target that tinyc has, in a PTX that has it and that LLVM can write.
// expected-error @+1 {{the gpu.module needs one target, #nvvm.target<O = 3, chip = "sm_80", features = "+ptx80"> or <O = 3, chip = "sm_90a", features = "+ptx80"> or a later PTX; it has none}}
gpu.module @nowhere {
}
// expected-error @+1 {{it has #nvvm.target<O = 3, chip = "sm_80", features = "+ptx63">}}
gpu.module @too_old [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx63">] {
}
// expected-error @+1 {{it has #nvvm.target<O = 3, chip = "sm_99", features = "+ptx80">}}
gpu.module @unknown [#nvvm.target<O = 3, chip = "sm_99", features = "+ptx80">] {
}

// -----

// A pointer to anything is a tensor map, by value and whole; clusters have at most 8 CTAs along an axis.
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  // expected-error @+1 {{argument 0 is !llvm.ptr; it must be a tensor map by value, with llvm.byval, llvm.align, nvvm.grid_constant}}
  llvm.func @a(%m: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{argument 0: llvm.byval is !llvm.array<64 x i8>; it may be !llvm.array<128 x i8>}}
  llvm.func @b(%m: !llvm.ptr {llvm.byval = !llvm.array<64 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-error @+1 {{'llvm.func': nvvm.cluster_dim is array<i32: 16, 1, 1>; it must be of the form}}
  llvm.func @c() attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 16, 1, 1>} {
    llvm.return
  }
}

// -----

// Shared memory is external where it is dynamic, and has no elements then.
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  llvm.mlir.global external @a() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // expected-error @+1 {{'llvm.mlir.global' is external where it is dynamic, and has no elements then}}
  llvm.mlir.global external @b() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<4 x i8>
  // expected-error @+1 {{'llvm.mlir.global' is external where it is dynamic, and has no elements then}}
  llvm.mlir.global internal @c() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
}

// -----

// Assembly is that of a table.
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @k(%a: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.inline_asm' of "halt $0;" with "r" is no instruction that kernels are written with}}
    llvm.inline_asm has_side_effects asm_dialect = att "halt $0;", "r" %a : (i32) -> ()
    llvm.return
  }
}
