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
    """The vector registers of a level of x86-64, such as "x86-64-v3" or "v3", of aarch64, or of "host".

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
class ProductRates:
    """What the cost model of a product counts with (`analysis.product_cost`), of a core with vectors of 256 bits.

    Of a cycle: `multiply_adds` of vectors, of which a sum waits for the one before for `latency` cycles; `loads` of
    vectors or of a number for all lanes. Of an element in cycles: where it is packed in the order in which it lies in
    memory, besides those of a run of neighbours, and of rows that have guards; where it is packed by transpositions;
    where it becomes a result, beside the last one, `apart` from it besides, and `across` whole pages of `page_bytes`. A
    micro-kernel starts and ends in `start_cycles`.

    Source: fitted to measurements with the micro-kernel of 6 × 16 on an AMD EPYC of family 25, model 1 (Zen 3), with
    one thread and with two: cubes of 256 to 2048 in several layouts, products of few rows, convolutions of ResNet-50.
    More than two threads have not been measured.
    """

    hz: float
    multiply_adds: int
    latency: int
    loads: int
    copied_cycles: float
    run_cycles: float
    guarded_cycles: float
    transposed_cycles: float
    result_cycles: float
    apart_cycles: float
    across_cycles: float
    page_bytes: int
    start_cycles: float
    #: The vectors of columns that a micro-kernel reads in place of the next product come so much later: nothing
    #: prefetches them.
    jump_cycles: float
    #: The same where all products are read before the next columns: up to as many pages as are held, and of others with
    #: a jump besides.
    row_cycles: float
    held_pages: int
    #: From L3 or memory the first line of a run of neighbours comes so much later than the others.
    stream_cycles: float
    #: Of a panel that has more than the one part of L2, the other part of what is beyond that has gone when it is read.
    kept_part: float
    missed_part: float
    #: What one core gets from memory in a second, and in a cycle from L1, L2 and L3; and what it packs in a cycle of
    #: what is in L1, L2, L3 or memory, where it jumps.
    memory_bytes: float
    cache_bytes: tuple[float, float, float]
    packed_bytes: tuple[float, float, float, float]
    #: The machines that a plan is for: their threads, and how much each counts.
    machines: tuple[tuple[int, float], ...]


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
    #: The bytes of the caches: two of a core, and one of all.
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    #: Rows and columns of a product that are computed together at the most, as formation counts: what is chosen of a
    #: kernel is in `analysis.product_search`.
    tile_rows: int
    tile_columns: int
    #: Rows of an operand that is read in place, and columns of a tile that reads them: so many streams of that length
    #: come as fast as memory gives them.
    rows_in_place: int
    columns_in_place: int
    #: Queries of attention that are computed together, and the keys that they read at a time: whole micro-kernels of
    #: all vectors, whose scores, with a few queries, are in the nearest cache.
    tile_queries: int
    tile_keys: int
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
    #: Windows that are packed in a box have sums of no more bytes for a column. There are columns in it that nobody
    #: reads; for so many rows these take as long as it takes to pack lines instead.
    window_bytes: int
    rows_worth_packing_lines: int
    #: The turns of the parallel outer loop that are enough: where leading loops have as many, the rest are inside.
    enough_turns: int
    #: Turns that are enough where each holds an image, which fewer turns compute less often.
    enough_images: int
    rates: Rates
    products: ProductRates

    def bytes_per_cycle(self, held: float) -> float:
        """What a core reads of so many bytes in a cycle, which are read again and again."""
        beyond = self.products.memory_bytes / self.products.hz
        return (*self.products.cache_bytes, beyond)[self._level(held)]

    def packed_per_cycle(self, held: float) -> float:
        """What a core reads of so many bytes in a cycle where it packs them."""
        return self.products.packed_bytes[self._level(held)]

    def _level(self, held: float) -> int:
        """The nearest cache that has room for so many bytes, from 0 on."""
        return sum(held > room for room in (self.l1_bytes, self.l2_bytes, self.l3_bytes))


GENERIC_CPU = CpuTarget(
    name="cpu",
    names=("cpu",),
    tile_elements=128,
    line_bytes=64,
    block_side=16,
    l1_bytes=32 * 1024,
    l2_bytes=512 * 1024,
    l3_bytes=32 * 1024 * 1024,
    tile_rows=672,
    tile_columns=256,
    rows_in_place=8,
    columns_in_place=2048,
    tile_queries=192,
    tile_keys=252,
    rows_worth_packing=32,
    step_bytes=128 * 1024,
    fewest_lanes=32,
    shuffled_elements=8,
    window_terms=25,
    taps=9,
    window_bytes=1024,
    rows_worth_packing_lines=16,
    enough_turns=256,
    enough_images=16,
    rates=Rates(
        bytes_per_second=100e9,
        flops_per_second=8 * 3e9 * 32,  # cores, cycles, two fused multiply-adds of 8 lanes a cycle
        product_flops_per_second=8 * 3e9 * 32,
        special_function_flops=32,  # scalar calls of the mathematical library, or a polynomial of some 16 terms
        scattered_flops=16,  # one lane, with its own index arithmetic
        launch_seconds=5e-6,  # handing a kernel to threads that wait
        parallel_threads=8,
    ),
    products=ProductRates(
        hz=3.2e9,
        multiply_adds=2,
        latency=4,
        loads=2,
        copied_cycles=0.6,
        run_cycles=3,
        guarded_cycles=1.5,
        transposed_cycles=1.0,
        result_cycles=1.0,
        apart_cycles=1.0,
        across_cycles=20.0,
        page_bytes=4096,
        start_cycles=10,
        jump_cycles=1,
        row_cycles=0.6,
        held_pages=64,
        memory_bytes=21e9,
        stream_cycles=150,
        kept_part=0.25,
        missed_part=0.25,
        cache_bytes=(64, 32, 16),
        packed_bytes=(64, 16, 3, 1.7),
        machines=((1, 0.55), (2, 0.435), (8, 0.015)),
    ),
)
