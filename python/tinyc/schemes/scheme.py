"""What a scheme is: the interface between a kind of kernel and those who choose, plan and build kernels."""

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from tinyc.analysis.candidate import Candidate
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.search import PlanSearch
from tinyc.target import Machine
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.dialects.region.to_gpu.function import Origin

#: The fields of a plan that every scheme takes.
FIELDS_OF_ALL = ("scheme", "arch", "precision", "algo_choice", "local_edges")


@dataclass(frozen=True)
class Resources:
    """The resources that a kernel takes, by estimate: `grid` is the CTAs along x, y and z, or a CPU's parallel turns.

    `vector_bytes` is an access to the widest elements of what is read or written in full, `accesses_in_flight` how many
    of a thread are on their way at a time; `product_tile` the accumulators along m and n for which an operand's element
    is computed once. `inlines_reductions` says that a thread computes a reduction again for each element that it reads
    of it, `shares_dear_values` that several phases share what is dear to compute, `leaves_tiles` what it has in place
    of the tiles that the machine's products are fast in. A contraction by itself takes `product_seconds`, where the
    scheme has a model of it, which the f32 rate of the machine is not.
    """

    grid: tuple[Dim, Dim, Dim]
    threads_per_cta: int
    shared_bytes: int = 0
    accumulator_registers_per_thread: int = 0
    vector_bytes: int = 16
    accesses_in_flight: int = 1
    product_tile: tuple[int, int] | None = None
    inlines_reductions: bool = False
    shares_dear_values: bool = False
    leaves_tiles: str = ""
    product_seconds: float | None = None


@dataclass(frozen=True)
class Acceptance:
    """A scheme can build a candidate, with its default plan for `resources`.

    `reason` completes "since …"; it is empty where there is none but that no other scheme accepts it.
    """

    reason: str
    resources: Resources


@dataclass(frozen=True)
class Refusal:
    """A scheme cannot build a candidate; `reason` completes "since …".

    `PlanMismatch`: it is another kind of kernel; `ResourceExceeded`: the target has no room for it with the default
    plan, though it may with another one; `NoGpuKernel`: no plan helps.
    """

    error: Literal["PlanMismatch", "ResourceExceeded", "NoGpuKernel"]
    reason: str


MachineT = TypeVar("MachineT", bound=Machine)


class KernelKind(abc.ABC, Generic[MachineT]):
    """One kind of kernel on a machine, with its plans. Without state: each class has one object, in `registry`."""

    #: What a plan calls it, one of `names.SCHEME_NAMES`.
    name: ClassVar[str]
    #: The algorithm by which it computes its pattern, one of `plan.fields.ALGORITHMS`; the pattern is that of its one
    #: contraction, unless it is said here.
    algorithm: ClassVar[str] = "implicit_gemm"
    pattern: ClassVar[str | None] = None
    #: The values of a plan's field `precision` that it takes.
    precisions: ClassVar[tuple[str, ...]] = ("ieee",)
    #: Whether it takes a plan that asks for asynchronous copies, by `async`.
    copies_asynchronously: ClassVar[bool] = False
    #: Whether it completes `algo_choice`, having several algorithms for a contraction.
    chooses_algorithm: ClassVar[bool] = False
    #: The fields of a plan that it takes besides `FIELDS_OF_ALL`, by their names in a text; any other one is refused.
    fields: ClassVar[tuple[str, ...]] = ()

    @abc.abstractmethod
    def accepts(self, candidate: Candidate, target: MachineT) -> Acceptance | Refusal:
        """Whether the scheme can build `candidate` for `target`, with its default plan; `completion.answer_of` asks.

        Raises:
            ExtentError: a number that it needs, of elements or CTAs, is not a representable extent.
        """

    def accepts_in(self, precision: str, candidate: Candidate, target: MachineT) -> Acceptance | Refusal:
        """`accepts`, for a plan that asks for `precision`, one of `precisions`."""
        return self.accepts(candidate, target)

    def refuses(self, precision: str, candidate: Candidate, target: MachineT) -> Refusal | None:
        """Why no plan that asks for `precision` is one for `candidate`, whatever room the target has, or None."""
        answer = self.accepts_in(precision, candidate, target)
        return answer if isinstance(answer, Refusal) and answer.error != "ResourceExceeded" else None

    def why_not_algorithm(self, pattern: str, algorithm: str) -> str | None:
        """Why it does not compute a contraction of `pattern` by `algorithm`, and what to do; None where it does."""
        if algorithm == self.algorithm:
            return None
        return f"scheme '{self.name}' builds a {pattern} as {self.algorithm}; write that"

    def complete(self, plan: Plan, candidate: Candidate, target: MachineT, refusals: PlanRefusals) -> Plan:
        """`plan` with every decision that the scheme needs; what speaks against one that is given goes to `refusals`.

        The scheme does not refuse `candidate` as of another kind, and `plan` has no fields but its own. Completing a
        complete plan changes nothing.
        """
        return plan

    def search(self, plan: Plan, candidate: Candidate, target: MachineT) -> PlanSearch | None:
        """What there is to choose from for a plan, which `complete` does not refuse; None where rules decide."""
        return None

    def degradation(self, plan: Plan, candidate: Candidate, target: MachineT) -> str | None:
        """What `complete` would make of a plan if the machine had room for it, and what it has no room for.

        None where it has room for what is the fastest. The scheme does not refuse the plan.
        """
        return None

    def summary(self, plan: Plan) -> str:
        """What a remark says of a complete plan: the scheme, and what it decides above all."""
        return self.name


class Scheme(KernelKind[Target]):
    """One kind of kernel on a GPU."""

    def part_lengths(self, plan: Plan, reduced: Shape) -> Shape:
        """How long a part is along each of the axes of a reduction: all, but where a kernel of its own takes parts.

        The plan is complete.
        """
        return reduced

    @abc.abstractmethod
    def build(self, origin: "Origin") -> None:
        """Write the GPU functions of a kernel whose plan is complete at the insertion point, in a `gpu.module`.

        Raises:
            TinycError: `NoGpuKernel`.
        """
