"""A CPU, by a fixed table: decisions for it are the same on every machine, whatever the one that compiles has.

The numbers are round ones for eight cores of a server of the years about 2022 with 256-bit vectors. They decide what is
fused, and in which form its loops are. The vectors that loops have are those of the CPU that code is made for, by its
level of the x86-64 psABI.
"""

from dataclasses import dataclass

from tinyc.runtime.cpu_features import AARCH64, level_features
from tinyc.target.machine import Rates

#: Vectors of columns of a micro-kernel of one row: what it reads of a row of memory at a time is long enough.
WIDEST_VECTORS = 8


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers of a CPU, of so many bytes, and whether it adds a product in one instruction."""

    register_bytes: int
    registers: int
    has_fma: bool
    #: Vectors of columns that a micro-kernel has beside each other.
    micro_vectors: int = 2

    @property
    def micro_rows(self) -> int:
        """Rows of a micro-kernel: its sums, the vectors that it multiplies, and an element of a row are in registers.

        One is left for what else there is.
        """
        return (self.registers - self.micro_vectors - 2) // self.micro_vectors

    def most_vectors(self, rows: int) -> int:
        """The vectors of columns that there are registers for beside so many rows, a power of two."""
        return min(WIDEST_VECTORS, 1 << ((self.registers - 2) // (rows + 1)).bit_length() - 1)


#: What loops are for where nobody says it: CPUs of the years since 2013.
DEFAULT_CPU = "x86-64-v3"


def vector_unit_of(cpu: str) -> VectorUnit:
    """The vector registers of a level of x86-64, such as "x86-64-v3", or of aarch64.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such CPU.
    """
    features = level_features(cpu)
    if cpu == AARCH64:
        return VectorUnit(16, 32, has_fma=True)
    if "avx512f" in features:
        return VectorUnit(64, 32, has_fma=True)
    return VectorUnit(32 if "avx2" in features else 16, 16, has_fma="fma" in features)


@dataclass(frozen=True)
class CpuTarget:
    """A CPU as the cost model and the loops see it."""

    name: str
    names: tuple[str, ...]
    #: Neighbouring elements that are accumulated together: the loop over them is the innermost one, and vectorises
    #: without reordering any sum.
    tile_elements: int
    #: Of a line of the caches.
    line_bytes: int
    #: The sides of a block that is transposed. Lines of more rows, at a distance of a power of two, share few sets of
    #: the caches.
    block_side: int
    #: Rows and columns of a product that are computed together, of whole micro-kernels, and the bytes of each one that
    #: are packed for them at a time.
    tile_rows: int
    tile_columns: int
    tile_depth_bytes: int
    #: Rows of an operand that is read in place, and columns of a tile that reads them: so many streams of that length
    #: come as fast as memory gives them.
    rows_in_place: int
    columns_in_place: int
    #: Queries of attention that are computed together, and the keys that they read at a time: whole micro-kernels of
    #: all vectors, whose scores, with a few queries, are in the nearest cache.
    tile_queries: int
    tile_keys: int
    #: A product of as many terms takes so long that two threads are worth their start, or, the second number, what both
    #: of them pack.
    terms_worth_two_turns: int
    terms_worth_packing_twice: int
    #: So many tiles keep threads busy for about as long, however many there are.
    enough_tiles: int
    #: So many rows of a product are as fast in tiles as one by one, in lanes, where the columns do not lie along each
    #: other in memory.
    rows_worth_packing: int
    #: Of the rows that a step of the loops holds at the most: beside those that are read and written they stay in the
    #: caches of one core, and they fit on any stack.
    step_bytes: int
    #: A row of as many elements is reduced in lanes. Shorter ones are taken a tile at a time, though that jumps in
    #: memory; up to the second number LLVM does that better itself, by shuffles.
    fewest_lanes: int
    shuffled_elements: int
    #: The terms of a reduction that are written out where neighbours are reduced together: those of 5 by 5 places.
    window_terms: int
    #: The products of a window that are written out where its columns are packed: those of 3 by 3 places.
    taps: int
    #: Of windows that are packed in a box, the columns of a tile: a box is smaller than the lines of its windows. There
    #: are columns in it that nobody reads; for so many rows these take as long as it takes to pack lines instead.
    columns_in_box: int
    rows_worth_packing_lines: int
    #: The turns of the parallel outer loop that are enough: where leading loops have as many, the rest are inside.
    enough_turns: int
    rates: Rates


GENERIC_CPU = CpuTarget(
    name="cpu",
    names=("cpu",),
    tile_elements=128,
    line_bytes=64,
    block_side=16,
    tile_rows=672,
    tile_columns=256,
    tile_depth_bytes=1024,
    rows_in_place=8,
    columns_in_place=2048,
    tile_queries=192,
    tile_keys=252,
    terms_worth_two_turns=1 << 20,
    terms_worth_packing_twice=1 << 23,
    enough_tiles=16,
    rows_worth_packing=32,
    step_bytes=128 * 1024,
    fewest_lanes=32,
    shuffled_elements=8,
    window_terms=25,
    taps=9,
    columns_in_box=512,
    rows_worth_packing_lines=16,
    enough_turns=256,
    rates=Rates(
        bytes_per_second=100e9,
        flops_per_second=8 * 3e9 * 32,  # cores, cycles, two fused multiply-adds of 8 lanes a cycle
        product_flops_per_second=8 * 3e9 * 32,
        special_function_flops=32,  # scalar calls of the mathematical library, or a polynomial of some 16 terms
        scattered_flops=16,  # one lane, with its own index arithmetic
        launch_seconds=5e-6,  # handing a kernel to threads that wait
        parallel_threads=8,
    ),
)
