"""A program at the sizes of one run: all that follows from the shapes of its inputs, computed once for all such runs.

In: a program, and the shapes. Out: the sizes and offsets of its buffers, its outputs, and its kernels' launches. Only
the key of random numbers is another in each run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.runtime import sizes
from tinyc.runtime.outputs import Output, outputs_at
from tinyc.runtime.program import KernelLaunch, Program, TensorMapParameter
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.run_key import RUN_KEY


class BoundTensorMap(NamedTuple):
    """A `runtime.tensor_map.Tiling` in numbers."""

    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int

    @property
    def is_empty(self) -> bool:
        """Whether the tensor has no elements: hardware has no map of it, and a kernel nothing to copy."""
        return 0 in self.dims


@dataclass(frozen=True, eq=False)
class BoundLaunch:
    """A kernel's launch: its sizes, and the values of its parameters that are extents or tensor maps, in order.

    `keyed` are the extents, by position, that depend on the key of random numbers; they stand for the key 0. A launch
    of no CTAs has no tensor maps.
    """

    kernel: KernelLaunch
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared_bytes: int
    extents: tuple[int, ...]
    keyed: Mapping[int, Dim]
    tensor_maps: tuple[BoundTensorMap, ...] = ()

    @property
    def has_clusters(self) -> bool:
        """Whether its clusters are of more than one CTA."""
        return self.cluster != (1, 1, 1)

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
    grid, cluster = sizes.grid_sizes(kernel.grid, values), sizes.grid_sizes(kernel.cluster, values)
    if any(ctas % size for ctas, size in zip(grid, cluster, strict=True)):
        shown, wanted = ("x".join(map(str, each)) for each in (grid, cluster))
        raise _misfit(kernel, f"a grid of {shown} CTAs, which clusters of {wanted} do not divide", values)
    return BoundLaunch(
        kernel,
        grid,
        sizes.grid_sizes(kernel.block, values),
        cluster,
        sizes.extent_value(kernel.dynamic_shared_bytes, values),
        tuple(sizes.extent_value(extent, values) for extent in kernel.extents),
        {at: each for at, each in enumerate(kernel.extents) if RUN_KEY in extents.symbols(each)},
        tuple(_tensor_map(kernel, each, values) for each in kernel.tensor_maps) if all(grid) else (),
    )


def _tensor_map(kernel: KernelLaunch, parameter: TensorMapParameter, values: Mapping[str, int]) -> BoundTensorMap:
    tiling = parameter.tiling
    dims, strides = (
        tuple(sizes.extent_value(each, values) for each in given) for given in (tiling.dims, tiling.strides)
    )
    fault = Tiling(dims, strides, tiling.box, tiling.swizzle).fault(parameter.element.size_bytes)
    if fault is not None:
        raise _misfit(kernel, f"a tensor map of {parameter.buffer}, which {fault}", values)
    return BoundTensorMap(dims, strides, tiling.box, tiling.swizzle)


def _misfit(kernel: KernelLaunch, what: str, values: Mapping[str, int]) -> TinycError:
    message = f"kernel '{kernel.symbol}' would be launched with {what}{sizes.at_values(values)}"
    return TinycError("AssumptionViolated", f"{message}; give inputs of other sizes", kernel.where)
