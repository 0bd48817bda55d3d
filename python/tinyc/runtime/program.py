"""The host program as frozen data: what every device runs, and all that it needs to know of the compiler.

Comes from the `exec` layer (`dialects/exec/to_program.py`); imports no MLIR. Extents are those of `expr.extents`,
sizes and offsets are bytes, element types are those of Tiny.
"""

from dataclasses import dataclass, field

from tinyc.diagnostics import Where
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
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


Parameter = Pointer | Status | ExtentValue


@dataclass(frozen=True)
class KernelLaunch:
    """The launch contract of one kernel.

    On the CPU `grid[0]` is the trip count of the parallel outer loop. On a GPU every parameter is 64 bits wide, and a
    buffer that is both read and written is updated in place. `where` is the user's node that the kernel computes.
    One that is of the stage `prepare` makes prepared buffers: it runs once when the weights are set, before all runs.
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
    prepare: bool = False

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """The parameters that are buffers, in order."""
        return tuple(parameter for parameter in self.parameters if isinstance(parameter, Pointer))

    @property
    def status(self) -> Status | None:
        """The parameter through which an index that is out of range is reported."""
        return next((parameter for parameter in self.parameters if isinstance(parameter, Status)), None)

    @property
    def extents(self) -> tuple[Dim, ...]:
        """The parameters that are extents, in order."""
        return tuple(parameter.value for parameter in self.parameters if isinstance(parameter, ExtentValue))


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
    arena_bytes: Dim
    weights: tuple[str, ...] = ()
    pool_bytes: int = 0

    @property
    def pool(self) -> tuple[Buffer, ...]:
        """The buffers of the ConstPool, in order."""
        return tuple(buffer for buffer in self.buffers if buffer.kind in POOL_KINDS)

    def of_stage(self, prepare: bool) -> tuple[KernelLaunch, ...]:
        """The kernels that run once whenever weights are set (`prepare`), or those of each run."""
        return tuple(kernel for kernel in self.kernels if kernel.prepare is prepare)

    def of_kind(self, kind: str) -> tuple[Buffer, ...]:
        """The buffers of one kind, in order."""
        return tuple(buffer for buffer in self.buffers if buffer.kind == kind)

    @property
    def is_on_device(self) -> bool:
        """Whether its kernels work on the memory of a GPU."""
        return any(buffer.memory_space == "device" for buffer in self.buffers)

    @property
    def status_slots(self) -> int:
        """How many kernels report indices that are out of range; each has one slot of the status buffer."""
        return 1 + max((kernel.status.slot for kernel in self.kernels if kernel.status), default=-1)
