// A stand-in for CUDA's header that runs kernels on the CPU, so that generated CUDA text can be tested without a GPU.
//
// CTAs run one after the other. The threads of a CTA are fibers: each runs until it waits at __syncthreads(), exchanges a
// value with lanes of its warp, which all threads of a CTA do together here, or ends; then the next one does. What a kernel launch `k<<<grid, block>>>(…)` is here is `cuda_on_host::launch(grid, block, …)`;
// the test rewrites it.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define __global__
#define __host__
#define __device__
#define __shared__ static
#define __restrict__ __restrict
#define __launch_bounds__(threads)
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::signbit;
using std::sqrt;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_on_host {

constexpr size_t kStackBytes = 1 << 16;

struct Fiber {
  ucontext_t context;  // on a stack of its own, from which it starts
  jmp_buf place;       // where it goes on
  dim3 index;
  bool started = false, done = false;
  unsigned exchanges = 0;
  char sent[2][8];  // of the last two exchanges: a thread may be in the next one before all have taken from this one
};

inline jmp_buf scheduler;
inline Fiber* running = nullptr;
inline Fiber* first = nullptr;
inline void (*body)(void*) = nullptr;
inline void* body_data = nullptr;

// Jumps, since `swapcontext` asks the system for the signals each time: that is most of what a kernel would take.
inline void yield() {
  if (_setjmp(running->place) == 0) _longjmp(scheduler, 1);
}

// A fiber is a thread of one CTA after the other.
inline void start() {
  for (;;) {
    body(body_data);
    running->done = true;
    yield();
  }
}

inline void resume(Fiber& fiber) {
  running = &fiber;
  threadIdx = fiber.index;
  if (_setjmp(scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.place, 1);
  fiber.started = true;
  setcontext(&fiber.context);
}

inline void make_fibers(std::vector<Fiber>& fibers, std::vector<char>& stacks) {
  first = fibers.data();
  for (size_t i = 0; i < fibers.size(); ++i) {
    Fiber& fiber = fibers[i];
    fiber.index = dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y));
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks.data() + i * kStackBytes;
    fiber.context.uc_stack.ss_size = kStackBytes;
    makecontext(&fiber.context, start, 0);
  }
}

inline void run_block(std::vector<Fiber>& fibers) {
  for (Fiber& fiber : fibers) {
    fiber.done = false;
    fiber.exchanges = 0;
  }
  for (bool forward = true;; forward = !forward) {  // the order changes, so that a missing barrier shows
    size_t done = 0;
    for (size_t i = 0; i < fibers.size(); ++i) {
      Fiber& fiber = fibers[forward ? i : fibers.size() - 1 - i];
      resume(fiber);
      done += fiber.done;
    }
    if (done == fibers.size()) return;
    if (done != 0) {
      fprintf(stderr, "%zu of %zu threads left while the others wait at a barrier\n", done, fibers.size());
      abort();
    }
  }
}

template <typename Kernel>
void launch(dim3 grid, dim3 block, Kernel kernel) {
  gridDim = grid;
  blockDim = block;
  std::vector<Fiber> fibers(block.x * block.y * block.z);
  std::vector<char> stacks(fibers.size() * kStackBytes);
  body = [](void* data) { (*static_cast<Kernel*>(data))(); };
  body_data = &kernel;
  make_fibers(fibers, stacks);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = dim3(x, y, z);
        run_block(fibers);
      }
}

}  // namespace cuda_on_host

inline void __syncthreads() { cuda_on_host::yield(); }

// The value of lane `from` of the warp; the own one where there is no such lane.
template <typename T>
T exchanged(T value, int (*from_of)(int lane, int offset), int offset) {
  cuda_on_host::Fiber& fiber = *cuda_on_host::running;
  const int number = int(&fiber - cuda_on_host::first), lane = number % 32, from = from_of(lane, offset);
  const unsigned slot = fiber.exchanges++ % 2;
  memcpy(fiber.sent[slot], &value, sizeof(T));
  cuda_on_host::yield();
  if (from >= 0 && from < 32) memcpy(&value, cuda_on_host::first[number - lane + from].sent[slot], sizeof(T));
  return value;
}

template <typename T>
T __shfl_xor_sync(unsigned, T value, int offset) {
  return exchanged(value, [](int lane, int by) { return lane ^ by; }, offset);
}
template <typename T>
T __shfl_up_sync(unsigned, T value, int offset) {
  return exchanged(value, [](int lane, int by) { return lane - by; }, offset);
}
template <typename T>
T __shfl_down_sync(unsigned, T value, int offset) {
  return exchanged(value, [](int lane, int by) { return lane + by; }, offset);
}
template <typename T>
T __shfl_sync(unsigned, T value, int offset) {
  return exchanged(value, [](int, int by) { return by; }, offset);
}

// No other fiber runs in between.
template <typename T>
T atomicAdd(T* place, T value) {
  const T before = *place;
  *place = T(before + value);
  return before;
}

template <typename T>
T atomicCAS(T* place, T expected, T value) {
  const T before = *place;
  if (before == expected) *place = value;
  return before;
}

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

template <typename T>
cudaError_t cudaMalloc(T** address, size_t bytes) {
  *address = static_cast<T*>(malloc(bytes));
  return *address || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* address) {
  free(address);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* address, int value, size_t bytes) {
  if (bytes) memset(address, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (bytes) memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "error"; }
