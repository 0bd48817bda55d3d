"""CUDA C++: kernels as text for people, in a file that runs them and checks itself.

Here: a kernel is a `__global__` function whose values have names after what they are; beside it stands the same
computation as one sequential function of the host, and a `main` that fills the inputs, runs both and compares. What is
meant is what MLIR means: integers wrap, NaN and the sign of zero behave alike, constants are exact. Gone: ops, types
other than C++'s, constant arithmetic on positions. Not yet: registers, a schedule; nvcc has its own opinion of both.

    __global__ void __launch_bounds__(256) relu(const float* __restrict__ x, float* __restrict__ y, int64_t M) {
      const int64_t tx = threadIdx.x;
      const int64_t bx = blockIdx.x;
      const int64_t grid_x = gridDim.x;
      // map: one element for each thread at a time
      for (int64_t m = bx * 256 + tx; m < M; m += grid_x * 256) {
        y[m] = maximum(x[m], 0.f);
      }
    }

Like `nvvm` it has no dialect of its own: a text is one `emitc.verbatim`. Reading order:

    printer    a function at the scalar level as text
    main       the program around it: the sequential reference, what is known of sizes and roundings, `main`

`gpu/to_cuda` puts them together as one file.
"""
