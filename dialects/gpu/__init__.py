"""GPU (namespace `tgpu`): kernels as statements over tiles, and the loops of one thread that those become.

Here: each kernel is a `gpu.func` of the one `gpu.module`, which names the architecture, with the grid and the CTA
that it is launched with; threads and CTAs exist, circular buffers of tiles in shared memory, accumulators in registers.
A statement's body is the region's own ops: values, read where they are needed. After `--gpu-expand` there are loops,
loads and stores of one thread instead. Gone: kernels without threads; the plan is realised, and kept to be read. Not
yet: addresses, instructions.

    !buffer = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
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

Reading order:

    shared_layout, fragment_layout
                  where a tile's elements stand in shared memory, and which threads have them in registers
    dialect       the types that statements work on: tiles in shared memory, accumulators; what all ops share
    strided_matrix, instructions
                  a matrix in a buffer, as attributes; the table of PTX instructions
    statements    the statements, one file each with its op and its rule, and the list of them
    kernel        a view of one kernel: its arguments, its launch, its statements
    dynamic_memory
                  where the swizzled tiles and the mbarriers of a kernel are
    verify, verify_launch, verify_asynchrony
                  what must hold of a kernel as a whole, of how it is launched, and of what goes on beside its threads
    launch_attributes, launch
                  what attributes say of the launch; what the host asks of kernels: how each is launched
    expand        --gpu-expand: each statement as code for one thread
    to_nvvm       --gpu-to-nvvm: that code in the LLVM dialect with NVVM's ops
    to_cuda       --gpu-to-cuda: the same code as one readable file, whose parts the layer `cuda` writes
"""
