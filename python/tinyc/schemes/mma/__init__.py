"""Scheme `mma`: a contraction on tensor cores, by the one template that a plan fills.

A CTA computes a tile of the output. Tiles of the operands come to shared memory through a circular buffer, whose loads
run ahead of the multiplication: by TMA, cp.async or through registers. Warps multiply by `mma.sync` on sm_80,
warpgroups by `wgmma` on sm_90a; what the region does after the sum is done on the accumulators.

In reading order:

    matrix_unit    what tensor cores multiply
    case           a product, and what the models ask of it
    tiling         a complete plan's numbers
    loads          what brings each operand to shared memory
    orientation    which of the operands is along the rows of instructions
    stores         what brings each output to global memory
    shared_memory  what is in shared memory: stages, slabs, and what the epilogue reads beside the accumulators
    registers      those of a thread
    resources      shared memory, CTAs of an SM
    given          what a plan says already
    space          the tilings that there are
    cost           the time of one
    choice         the fastest of them
    plan           numbers and fields
    parts          what a plan has decided about a region
    maps           tensor maps of operands and outputs
    writer         the statements that kernels of both kinds have
    slices         what becomes of the sums of slices of k, and the kernels beside
    fragments      products whose operand A is made in registers
    simple         kernels whose threads all load and multiply
    layout         tiles and tensor maps of those whose warpgroups do one of both
    slabs          epilogue and store of these
    specialised    these kernels
    build          which of them becomes the function

**Source:** 000 §1.7, §1.8, §5, §6.
"""

import functools
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.diagnostics import either
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.mma.case import MMA_NAME, MmaCase, mma_case
from tinyc.schemes.mma.choice import choice_of, fastest_of
from tinyc.schemes.mma.given import given_of
from tinyc.schemes.mma.plan import MMA_FIELDS, complete_mma, mma_grid, search_mma
from tinyc.schemes.neighbours import ACCESS_BYTES
from tinyc.schemes.scheme import Acceptance, Refusal, Resources, Scheme
from tinyc.schemes.search import PlanSearch
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


#: Pattern of Poly-View → the algorithms that the template has.
_ALGORITHMS = {"matmul": ("implicit_gemm", "splitk_serial", "splitk_parallel"), "conv": ("implicit_gemm",)}
_NOT_YET = {
    "streamk": "a tile of the template is whole along k, or in equal slices",
    "winograd_3x3": "it comes with convolution",
    "fft_conv": "it comes with convolution",
    "streaming_softmax_2pass": "it comes with attention",
    "online_softmax": "it comes with attention",
}


class MmaContraction(Scheme):
    """A contraction with an m, an n and a k in element types of tensor cores, and element-wise ops behind it."""

    name = MMA_NAME
    fields = MMA_FIELDS
    precisions = ("ieee", "tf32")
    copies_asynchronously = True
    chooses_algorithm = True

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Contractions in types that tensor cores multiply without rounding."""
        return self.accepts_in("ieee", candidate, target)

    def accepts_in(self, precision: str, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Contractions in types that tensor cores multiply in a precision."""
        case = mma_case(candidate, target, precision)
        if isinstance(case, str):
            return Refusal("PlanMismatch", case)
        resources = _usual_resources(case.without_ends())
        if resources is None:
            return Refusal("ResourceExceeded", f"its tiles are more CTAs than {target.name} launches at once")
        return Acceptance("it is a contraction for tensor cores", resources)

    def refuses(self, precision: str, candidate: Candidate, target: Target) -> Refusal | None:
        """What is no contraction for tensor cores; the default plan, a choice of many, is not asked for."""
        case = mma_case(candidate, target, precision)
        return Refusal("PlanMismatch", case) if isinstance(case, str) else None

    def why_not_algorithm(self, pattern: str, algorithm: str) -> str | None:
        """Tiles that are whole along k or slices of it; what is missing says with what it comes."""
        algorithms = _ALGORITHMS.get(pattern, ("implicit_gemm",))
        if algorithm in algorithms:
            return None
        reason = _NOT_YET.get(algorithm, f"scheme '{self.name}' has another algorithm for a {pattern}")
        return f"{reason}; write {either(algorithms)}"

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The fastest plan, by the cost model, with what is given."""
        return complete_mma(plan, _accepted_case(plan, candidate, target, refusals))

    def search(self, plan: Plan, candidate: Candidate, target: Target) -> PlanSearch:
        """The tilings that `plan` leaves."""
        return search_mma(plan, _accepted_case(plan, candidate, target))

    def degradation(self, plan: Plan, candidate: Candidate, target: Target) -> str | None:
        """The tiling that would be faster, and the field that asks for more than the target has. Source: 000 §10."""
        case = _accepted_case(plan, candidate, target)
        choice = choice_of(given_of(plan, case), case)
        lacking = choice.without_room
        if lacking is None:
            return None
        tile, (_, field, message) = " × ".join(map(str, lacking.tiling.tile)), lacking.faults[0]
        chosen = choice.ranked[0].prediction.seconds
        return (
            f"tile {tile} by {'x'.join(map(str, lacking.tiling.unit_tile))} would take {lacking.seconds * 1e6:.1f} us, "
            f"the one that is chosen {chosen * 1e6:.1f} us; but its '{field}' {message}"
        )

    def summary(self, plan: Plan) -> str:
        """The scheme with its tile, what a unit has of it, its stages, and its schedule."""
        assert plan.tile is not None  # it is complete
        tile = " × ".join(map(str, plan.tile))
        slices = f", split_k {plan.split_k}" if plan.split_k not in (None, 1) else ""
        return f"{self.name}, tile {tile} by {plan.warp_tile}, stages {plan.stages}, {plan.schedule}{slices}"

    def build(self, origin: "Origin") -> None:
        """Write the functions."""
        from tinyc.schemes.mma.build import build_product  # MLIR: when a kernel is built

        build_product(origin)


def _accepted_case(plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals | None = None) -> MmaCase:
    """The case of a candidate that the scheme has not refused."""
    case = mma_case(candidate, target, plan.precision or "ieee", refusals)
    assert not isinstance(case, str), case
    return case


@functools.lru_cache(maxsize=1024)
def _usual_resources(case: MmaCase) -> Resources | None:
    """The resources of the default plan, if a grid has room for it; remembered, for a fusion asks it of many groups."""
    plan = complete_mma(Plan(), case)
    fastest = fastest_of(given_of(Plan(), case), case)
    if case.refusals or fastest is None:
        return None
    tiling, (m, n, k) = fastest.tiling, fastest.tiling.tile
    ahead = (tiling.stages - 1) * (m + n) * k * case.unit.factor.size_bytes
    return Resources(
        grid=mma_grid(tiling, plan, case),
        threads_per_cta=tiling.threads,
        shared_bytes=fastest.resources.shared_bytes,
        accumulator_registers_per_thread=tiling.accumulators_per_thread,
        accesses_in_flight=max(1, ahead // (ACCESS_BYTES * tiling.threads)),
        product_tile=tiling.tile[:2],
        product_seconds=fastest.prediction.seconds,
    )
