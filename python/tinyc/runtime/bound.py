"""A program at the sizes of one run: all that follows from the shapes of its inputs, computed once for all such runs.

In: a program, and the shapes. Out: the sizes and offsets of its buffers, its outputs, and its kernels' launches. Only
the key of random numbers is another in each run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.runtime import sizes
from tinyc.runtime.outputs import Output, outputs_at
from tinyc.runtime.program import KernelLaunch, Program
from tinyc.vocabulary.run_key import RUN_KEY


@dataclass(frozen=True, eq=False)
class BoundLaunch:
    """A kernel's launch: its sizes, and the values of its parameters that are extents, in order.

    `keyed` are those among them, by position, that depend on the key of random numbers; they stand for the key 0.
    """

    kernel: KernelLaunch
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared_bytes: int
    extents: tuple[int, ...]
    keyed: Mapping[int, Dim]

    def extents_with(self, run_key: int, values: Mapping[str, int]) -> Sequence[int]:
        """The extents of a run with that key."""
        if not self.keyed or not run_key:
            return self.extents
        with_key = {**values, RUN_KEY: run_key}
        return [
            sizes.extent_value(self.keyed[position], with_key) if position in self.keyed else value
            for position, value in enumerate(self.extents)
        ]


@dataclass(frozen=True, eq=False)
class BoundProgram:
    """A program at the sizes of one run, all in numbers: `shapes`, `sizes` (bytes) and `offsets` are by buffer.

    `offsets` are those in the arena, `pool_offsets` those in the ConstPool.
    """

    program: Program
    values: Mapping[str, int]
    outputs: tuple[Output, ...]
    shapes: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]
    offsets: Mapping[str, int]
    pool_offsets: Mapping[str, int]
    arena_bytes: int
    launches: tuple[BoundLaunch, ...]


def bind_program(program: Program, shapes: Sequence[tuple[int, ...]]) -> BoundProgram:
    """The program at the sizes that the shapes of its inputs tell.

    Raises:
        TinycError: `InputMismatch`, `UnboundSymbol`, `AssumptionViolated`, `OutOfMemory`.
    """
    values = sizes.solve_symbols(program, shapes)
    sizes.check_sizes(program, values)
    buffers = program.buffers
    return BoundProgram(
        program,
        values,
        outputs_at(program.named("output"), values),
        {each.name: tuple(sizes.extent_value(extent, values) for extent in each.shape) for each in buffers},
        {each.name: sizes.extent_value(each.size, values) for each in buffers},
        {each.name: sizes.extent_value(each.offset, values) for each in program.of_kind("arena")},
        {each.name: sizes.extent_value(each.offset, values) for each in program.pool},
        sizes.extent_value(program.arena_bytes, values),
        tuple(_launch(kernel, values) for kernel in program.launches_at(values)),
    )


def _launch(kernel: KernelLaunch, values: Mapping[str, int]) -> BoundLaunch:
    return BoundLaunch(
        kernel,
        sizes.grid_sizes(kernel.grid, values),
        sizes.grid_sizes(kernel.block, values),
        sizes.grid_sizes(kernel.cluster, values),
        sizes.extent_value(kernel.dynamic_shared_bytes, values),
        tuple(sizes.extent_value(extent, values) for extent in kernel.extents),
        {at: each for at, each in enumerate(kernel.extents) if RUN_KEY in extents.symbols(each)},
    )
