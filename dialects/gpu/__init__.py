"""GPU (namespace `tgpu`): kernels as statements over tiles, and the loops of one thread that those become.

Here: each kernel is a `gpu.func` of the one `gpu.module`, which names the architecture, with the grid and the block
that it is launched with; threads and blocks exist, tiles in shared memory, tiles of sums in registers. A statement's
body is the region's own ops: values, read where they are needed. After `--gpu-expand` there are loops, loads and stores
of one thread instead. Gone: kernels without threads; the plan is realised, and kept to be read. Not yet: addresses,
instructions.

    !buffer = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 64 : i64, true>
    gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
      gpu.func @relu(%x: !buffer {tgpu.name = "x"}, %y: !buffer {tgpu.name = "y"}, %M: index {tgpu.extent = "M"}) kernel
          attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["(M - 1) floordiv 256 + 1", 1, 1]} {
        "tgpu.map"() ({
          %0 = "region.read"(%x) : (!buffer) -> tensor<?xf32, #tiny.dims<["M"]>>
          %1 = "tiny.relu"(%0) : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
          "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<?xf32, #tiny.dims<["M"]>>, !buffer) -> ()
          omp.terminator
        }) : () -> ()
        gpu.return
      }
    }

`ops` says what the statements mean, `verify` and `verify_statements` what must hold of them. `expand` writes them as
code for one thread of `threads`: the arguments are those of `signature`, `grid_loops` has what all threads of a grid
share, `naive_tile` the product of two matrices. An element of a value is computed by `thread_elements`, in memory as
`flat_elements` knows it. From there on `to_nvvm` goes to LLVM, and `to_cuda` to text, with the printer in `cuda/`.
"""
