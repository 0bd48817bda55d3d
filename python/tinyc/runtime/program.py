"""The host program as frozen data: what every device runs, and all that it needs to know of the compiler.

Comes from the `exec` layer (`dialects/exec/to_program.py`); imports no MLIR. Extents are those of `expr.extents`,
sizes and offsets are bytes, element types are those of Tiny.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from tinyc.diagnostics import Where
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import MaximumDim
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import MAX_RANK

Grid = tuple[Dim, Dim, Dim]

#: The kinds of buffers in the ConstPool, which is filled once and kept: an input that is declared a weight, a tensor of
#: the program itself, and what kernels have made of these.
POOL_KINDS = ("weight", "constant", "prepared")


@dataclass(frozen=True)
class Buffer:
    """Memory for one dense row-major tensor; `offset` is into the arena, or for the kinds of the pool into the pool.

    `kind` is "input" or "output", the caller's; "arena", between kernels of one run; or one of `POOL_KINDS`.
    `memory_space` is "host" or "device", and the same for all buffers of a program. `where` is the user's node whose
    value it holds. An input may serve as an index into axes: `indexes` are their extents.
    """

    name: str
    kind: str
    memory_space: str
    offset: Dim
    size: Dim
    element: ElementType
    shape: tuple[Dim, ...]
    where: Where = field(default_factory=Where)
    indexes: tuple[Dim, ...] = ()


@dataclass(frozen=True)
class Pointer:
    """Parameter: the address of `buffer`, which the kernel sees under `shape` (as many elements as the buffer's)."""

    buffer: str
    element: ElementType
    shape: tuple[Dim, ...]


#: The i64 in which one kernel notes an index that is out of range: 0, or 1 + the rank of the tensor that holds it; the
#: index; the axis that it indexes and the axis' extent; and its place in that tensor, one number for each axis.
STATUS_WORDS = 4 + MAX_RANK
STATUS_BYTES = 8 * STATUS_WORDS


@dataclass(frozen=True)
class Status:
    """Parameter: the address of slot number `slot` of the status buffer."""

    slot: int


@dataclass(frozen=True)
class ExtentValue:
    """Parameter: the value of an extent as a 64-bit integer."""

    value: Dim


@dataclass(frozen=True)
class TensorMapParameter:
    """Parameter: a tensor map of `buffer`, which a pointer of the same launch passes too; 128 bytes by value."""

    buffer: str
    element: ElementType
    tiling: Tiling


Parameter = Pointer | Status | ExtentValue | TensorMapParameter


@dataclass(frozen=True)
class Alternative:
    """Another kernel for one launch, with the same buffers, at the sizes at which all `guards` hold."""

    guards: tuple[Assumption, ...]
    symbol: str
    grid: Grid
    block: Grid
    cluster: Grid
    dynamic_shared_bytes: Dim
    parameters: tuple[Parameter, ...]

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it takes the kernel's place where the symbols have these values."""
        sides = ((each, extents.evaluate(each.lhs, values), extents.evaluate(each.rhs, values)) for each in self.guards)
        return all(each.relates(lhs, rhs) for each, lhs, rhs in sides)


#: What an alternative says in the place of the launch.
_SHARED = tuple(each for each in fields(Alternative) if each.name != "guards")


@dataclass(frozen=True)
class KernelLaunch:
    """The launch contract of one kernel.

    On the CPU `grid[0]` is the trip count of the parallel outer loop. On a GPU every parameter but a tensor map is 64
    bits wide, and a buffer that is both read and written is updated in place. Each pair `in_place` is a buffer of the
    arena that is read for the last time, and one that is written where it lies. `where` is the user's node that the
    kernel computes. Where a run has the sizes of one of the `alternatives`, the first of these is launched in its
    place. One that is of the stage `prepare` makes prepared buffers: it runs once when the weights are set, before all
    runs.
    """

    symbol: str
    generation: int
    grid: Grid
    block: Grid
    cluster: Grid
    dynamic_shared_bytes: Dim
    parameters: tuple[Parameter, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    where: Where = field(default_factory=Where)
    in_place: tuple[tuple[str, str], ...] = ()
    prepare: bool = False
    alternatives: tuple[Alternative, ...] = ()

    def at(self, values: Mapping[str, int]) -> "KernelLaunch":
        """The launch where the symbols have these values: of the kernel itself, or of an alternative."""
        pairs = zip(self.alternatives, self.launches[1:], strict=True)
        return next((launch for each, launch in pairs if each.holds(values)), self)

    @functools.cached_property
    def launches(self) -> "tuple[KernelLaunch, ...]":
        """The launch with its own kernel, and with each of the alternatives."""
        facts = [{each.name: getattr(other, each.name) for each in _SHARED} for other in self.alternatives]
        return (self, *(replace(self, alternatives=(), **each) for each in facts))

    @property
    def is_idle(self) -> bool:
        """Whether it launches nothing, whatever the sizes: only one of its alternatives does."""
        return 0 in self.grid

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """The parameters that are buffers, in order."""
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, Pointer))

    @property
    def overwritten(self) -> Mapping[int, int]:
        """The numbers of the pointers to what is overwritten in place, each with that of the pointer that writes it."""
        numbers = {pointer.buffer: number for number, pointer in enumerate(self.pointers)}
        written = {read: numbers[written] for read, written in self.in_place}
        return {number: written[each.buffer] for number, each in enumerate(self.pointers) if each.buffer in written}

    @property
    def status(self) -> Status | None:
        """The parameter through which an index that is out of range is reported."""
        return next((parameter for parameter in self.parameters if isinstance(parameter, Status)), None)

    @property
    def extents(self) -> tuple[Dim, ...]:
        """The parameters that are extents, in order."""
        return tuple(parameter.value for parameter in self.parameters if isinstance(parameter, ExtentValue))

    @property
    def tensor_maps(self) -> tuple[TensorMapParameter, ...]:
        """The parameters that are tensor maps, in order."""
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, TensorMapParameter))


@dataclass(frozen=True)
class Program:
    """The host function: buffers, kernels in the order of their generations, and what has to hold of the symbols.

    `symbols` is the order of `shape_vars`. The buffer `input_N` is the input called `inputs[N]`; likewise the outputs
    and the weights, which are given once and not with each run. Beside a program stand the elements of its constants,
    by buffer.
    """

    name: str
    symbols: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    buffers: tuple[Buffer, ...]
    kernels: tuple[KernelLaunch, ...]
    arena_bytes: MaximumDim
    weights: tuple[str, ...] = ()
    pool_bytes: int = 0

    @property
    def pool(self) -> tuple[Buffer, ...]:
        """The buffers of the ConstPool, in order."""
        return tuple(buffer for buffer in self.buffers if buffer.kind in POOL_KINDS)

    def of_stage(self, prepare: bool) -> tuple[KernelLaunch, ...]:
        """The kernels that run once whenever weights are set (`prepare`), or those of each run."""
        return tuple(kernel for kernel in self.kernels if kernel.prepare is prepare)

    def named(self, kind: str) -> dict[str, Buffer]:
        """The buffers of the kind "input", "output" or "weight" by the user's names, in order."""
        names = {"input": self.inputs, "output": self.outputs, "weight": self.weights}[kind]
        return dict(zip(names, self.of_kind(kind), strict=True))

    def of_kind(self, kind: str) -> tuple[Buffer, ...]:
        """The buffers of one kind, in order."""
        return tuple(buffer for buffer in self.buffers if buffer.kind == kind)

    @property
    def launches(self) -> "tuple[KernelLaunch, ...]":
        """Every launch that there may be, alternatives behind their kernels; of two of one kernel the last."""
        return tuple({each.symbol: each for kernel in self.kernels for each in kernel.launches}.values())

    def launches_at(self, values: Mapping[str, int]) -> "tuple[KernelLaunch, ...]":
        """The launches of a run in order, where the symbols have these values."""
        return tuple(kernel.at(values) for kernel in self.kernels)

    def workspaces_of(self, kernel: KernelLaunch) -> frozenset[str]:
        """The buffers in which a launch may keep what is its own: nothing reads them that does not write them, too."""
        return self._unread.intersection(kernel.writes)

    @functools.cached_property
    def _unread(self) -> frozenset[str]:
        """The buffers between kernels that nothing reads but what writes them."""
        held = {buffer.name for buffer in self.buffers if buffer.kind in ("arena", "prepared")}
        return frozenset(held.difference(*({*each.reads}.difference(each.writes) for each in self.kernels)))

    @property
    def is_on_device(self) -> bool:
        """Whether its kernels work on the memory of a GPU."""
        return any(buffer.memory_space == "device" for buffer in self.buffers)

    @functools.cached_property
    def lifetimes(self) -> Mapping[str, tuple[int, int]]:
        """For each buffer that a kernel names the first and the last generation in which one does."""
        alive: dict[str, tuple[int, int]] = {}
        for kernel in self.kernels:
            for name in (*kernel.reads, *kernel.writes):
                first, last = alive.get(name, (kernel.generation, kernel.generation))
                alive[name] = min(first, kernel.generation), max(last, kernel.generation)
        return alive

    @functools.cached_property
    def arena_lifetimes(self) -> Mapping[str, tuple[int, int]]:
        """The lifetimes of the buffers that take a place in the arena from the first generation on.

        One that is written in place takes its place when the one that it overwrites is done.
        """
        overwriting = {written for kernel in self.kernels for _, written in kernel.in_place}
        named = (buffer.name for buffer in self.of_kind("arena") if buffer.name in self.lifetimes)
        lives = {name: self.lifetimes[name] for name in named}
        found = {name: (first + (name in overwriting), last) for name, (first, last) in lives.items()}
        return {name: (first, last) for name, (first, last) in found.items() if first <= last}

    @property
    def status_slots(self) -> int:
        """How many kernels report indices that are out of range; each has one slot of the status buffer."""
        return 1 + max((kernel.status.slot for kernel in self.kernels if kernel.status), default=-1)
