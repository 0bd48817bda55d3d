"""NVVM: kernels as functions of the LLVM dialect, with NVVM's ops for what only a GPU has.

Here: a `gpu.module` names its target and holds one `llvm.func` for each kernel; memory is pointers and addresses,
control flow is branches, a thread asks special registers where it is. Gone: buffers with types and shapes, structured
loops, functions that the target has no instruction for. Not yet: registers, a schedule of instructions.

    gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
      llvm.func @first(%y: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.noalias})
          attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
        %0 = llvm.mlir.constant(1.0 : f32) : f32
        llvm.store %0, %y : f32, !llvm.ptr<1>
        llvm.return
      }
    }

The dialect is upstream's; `verify.py` is the part of it that may go on to LLVM's NVPTX backend, which ends the process
where it cannot go on.
"""
