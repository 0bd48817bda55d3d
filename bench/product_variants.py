"""Products by TMA and wgmma that differ in their tile, their stages, and how many products are under way: 16 of them.

In: a size. Out: `Candidate`s. C = A · Bᵀ in f16 with f32 sums: A [m, k], B [n, k], C [m, n]. Written to be ranked, and
measured by nobody: a thread copies tiles of 64 along K into a circular buffer, each warpgroup multiplies 64 rows.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptxsim import TensorMap
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.candidates import Candidate

_TILE_K = 64
_SOURCE = """
#include <cuda_fp16.h>
#define DEVICE __device__ __forceinline__
struct alignas(64) TensorMap { unsigned char bytes[128]; };

DEVICE void init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
DEVICE void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
DEVICE void wait(unsigned barrier, unsigned parity) {
  asm volatile("{\\n.reg .pred done;\\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\\n"
               "@!done bra again;\\n}" ::"r"(barrier), "r"(parity) : "memory");
}
DEVICE void load_tile(unsigned to, const TensorMap* map, int x, int y, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
               "[%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
DEVICE unsigned long long descriptor(unsigned address) {  // rows of 128 bytes, swizzled; 1024 bytes between 8 rows
  return (unsigned long long)(address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
DEVICE void product(float (&d)[TILE_N / 2], unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile("{\\n.reg .pred p;\\nsetp.ne.b32 p, %@2, 0;\\n"
               "wgmma.mma_async.sync.aligned.m64n@widek16.f32.f16.f16 {@names}, %@0, %@1, p, 1, 1, 0, 0;\\n}"
               : @sums : "l"(a), "l"(b), "r"(accumulate) : "memory");
}

extern "C" __global__ void __launch_bounds__(128 * (CONSUMERS + 1), 1)
    product_of_tiles(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, __half2* c, int n,
                     int k) {
  constexpr int rows = 64 * CONSUMERS, stage = (rows + TILE_N) * 128;
  extern __shared__ __align__(1024) unsigned char stages[];
  unsigned base = (unsigned)__cvta_generic_to_shared(stages), full = base + STAGES * stage, empty = full + 8 * STAGES;
  int group = threadIdx.x / 128, row = blockIdx.y * rows, column = blockIdx.x * TILE_N, steps = k / 64;
  if (threadIdx.x == 0) {
    for (int at = 0; at < STAGES; ++at) {
      init(full + at * 8, 1);
      init(empty + at * 8, CONSUMERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    if (threadIdx.x == 0)
      for (int step = 0, at = 0, parity = 1; step < steps; ++step) {
        unsigned to = base + at * stage, barrier = full + at * 8;
        wait(empty + at * 8, parity);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(stage) : "memory");
        load_tile(to, &a, step * 64, row, barrier);
        load_tile(to + rows * 128, &b, step * 64, column, barrier);
        if (++at == STAGES) at = 0, parity ^= 1;
      }
    return;
  }
  float d[TILE_N / 2];
  for (int step = 0, at = 0, before = 0, parity = 0; step < steps; ++step) {
    wait(full + at * 8, parity);
    unsigned from = base + at * stage;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < 4; ++part)
      product(d, descriptor(from + (group - 1) * 64 * 128 + part * 32), descriptor(from + rows * 128 + part * 32),
              step > 0 || part > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(IN_FLIGHT) : "memory");
    if (threadIdx.x % 128 == 0 && step >= IN_FLIGHT) arrive(empty + (IN_FLIGHT ? before : at) * 8);
    before = at;
    if (++at == STAGES) at = 0, parity ^= 1;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int lane = threadIdx.x % 32, first = row + (group - 1) * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int e = 0; e < TILE_N / 2; e += 2) {
    int at = (first + e / 2 % 2 * 8) * n + column + e / 4 * 8 + lane % 4 * 2;
    c[at / 2] = __floats2half2_rn(d[e], d[e + 1]);
  }
}
"""


@dataclass(frozen=True)
class ProductVariant:
    """A kernel of tiles of 64 · `consumers` rows and `tile_n` columns, with `stages`, and `in_flight` products."""

    consumers: int
    tile_n: int
    stages: int
    in_flight: int

    @property
    def name(self) -> str:
        """Its name in tables: "128x256, 4 stages, 1 in flight"."""
        return f"{64 * self.consumers}x{self.tile_n}, {self.stages} stages, {self.in_flight} in flight"

    def ptx(self) -> str:
        """The PTX that nvcc makes of it.

        Raises:
            subprocess.CalledProcessError: nvcc refuses it.
        """
        count = self.tile_n // 2
        text = _SOURCE.replace("@names", ", ".join(f"%{at}" for at in range(count)))
        text = text.replace("@sums", ", ".join(f'"+f"(d[{at}])' for at in range(count))).replace(
            "@wide", str(self.tile_n)
        )
        for at in range(3):
            text = text.replace(f"%@{at}", f"%{count + at}")
        names = {"TILE_N": self.tile_n, "STAGES": self.stages, "CONSUMERS": self.consumers, "IN_FLIGHT": self.in_flight}
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder) / "product.cu", Path(folder) / "product.ptx"
            source.write_text(text)
            defined = [f"-D{name}={value}" for name, value in names.items()]
            command = ["nvcc", "-std=c++17", "-O3", "-ptx", "-arch=sm_90a", *defined, str(source), "-o", str(made)]
            subprocess.run(command, check=True, capture_output=True)
            return made.read_text()

    def candidate(self, size: int) -> Candidate:
        """The kernel for a product of `size` × `size` × `size`, a multiple of its tile and of 64."""
        text = self.ptx()
        return Candidate(
            self.name,
            self.launch(text, size, size),
            lambda steps: self.launch(text, size, steps * _TILE_K),
            size // _TILE_K,
        )

    def launch(self, text: str, size: int, depth: int) -> KernelLaunch:
        """The launch of its PTX for a product of `size` × `size` over `depth`."""
        rows, columns = 64 * self.consumers, self.tile_n
        x, w = (np.zeros((size, depth), np.float16) for _ in range(2))
        y = np.zeros((size, size), np.float16)
        maps = [
            TensorMap.tiled(2, each, [depth, size], [2 * depth], [_TILE_K, high], [1, 1], swizzle="128B")
            for each, high in ((x, rows), (w, columns))
        ]
        args: list[object] = [*maps, y, np.int32(size), np.int32(depth)]
        shared = self.stages * (128 * (rows + columns) + 16)
        grid, block = (size // columns, size // rows, 1), (128 * (self.consumers + 1), 1, 1)
        return KernelLaunch(text, "product_of_tiles", grid, block, args, shared)


#: Tiles, with how many stages they are tried, and how many products are under way.
_TRIED = (
    ((2, 256), (2, 3, 4), (0, 1)),
    ((2, 128), (2, 4, 6), (0, 1)),
    ((1, 256), (4,), (1,)),
    ((1, 128), (3,), (0, 1)),
    ((1, 64), (4,), (1,)),
)
PRODUCT_VARIANTS = tuple(
    ProductVariant(*tile, stages, in_flight)
    for tile, all_stages, all_in_flight in _TRIED
    for stages in all_stages
    for in_flight in all_in_flight
)
