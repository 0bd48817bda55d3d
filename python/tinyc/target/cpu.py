"""A CPU, by a fixed table: decisions for it are the same on every machine, whatever the one that compiles has.

The numbers are round ones for eight cores of a server of the years about 2022 with 256-bit vectors. They decide what is
fused, and in which form its loops are; code is compiled for the CPU that runs it.
"""

from dataclasses import dataclass

from tinyc.target.machine import Rates


@dataclass(frozen=True)
class CpuTarget:
    """A CPU as the cost model and the loops see it."""

    name: str
    names: tuple[str, ...]
    #: Neighbouring elements that are accumulated together: the loop over them is the innermost one, and vectorises
    #: without reordering any sum.
    tile_elements: int
    #: Rows of a product that are computed together, and the bytes of each one that is packed for them.
    tile_rows: int
    tile_depth_bytes: int
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
    #: The turns of the parallel outer loop that are enough: where leading loops have as many, the rest are inside.
    enough_turns: int
    rates: Rates


GENERIC_CPU = CpuTarget(
    name="cpu",
    names=("cpu",),
    tile_elements=128,
    tile_rows=192,
    tile_depth_bytes=256,
    rows_worth_packing=32,
    step_bytes=128 * 1024,
    fewest_lanes=32,
    shuffled_elements=8,
    enough_turns=256,
    rates=Rates(
        bytes_per_second=100e9,
        flops_per_second=8 * 3e9 * 32,  # cores, cycles, two fused multiply-adds of 8 lanes a cycle
        product_flops_per_second=8 * 3e9 * 32,
        special_function_flops=32,  # scalar calls of the mathematical library, or a polynomial of some 16 terms
        launch_seconds=5e-6,  # handing a kernel to threads that wait
        parallel_threads=8,
    ),
)
