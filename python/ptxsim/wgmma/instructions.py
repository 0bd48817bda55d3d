"""`wgmma.mma_async`, `wgmma.fence`, `wgmma.commit_group`, `wgmma.wait_group`: products of a warpgroup, asynchronous.

In: the instruction, which `matrix` turns into a pure function. Out: its step. The product is computed when it is
issued, from the bytes that shared memory has then; whether they change before the wait is for the race detector to say.
Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptxsim.machine.convergence import converge
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.flow import DEFINED
from ptxsim.machine.observer import AsyncOperation
from ptxsim.machine.site import Site
from ptxsim.matrix.operands import registers_of, stacked
from ptxsim.parsing.syntax import Immediate, Operand, Slot, Vector
from ptxsim.semantics import UnknownInstruction
from ptxsim.wgmma import warpgroup
from ptxsim.wgmma.operands import RegisterMatrix, SharedMatrix, register_a, shared_a, shared_b, uniform
from ptxsim.wgmma.pipeline import Accumulators, Product, pipeline_of
from ptxsim.wgmma.product import Immediates, WarpgroupMma, parse_wgmma
from ptxsim.wgmma.registers import register_use, slots_of


def wgmma(site: Site) -> Step:
    """Compile one of the instructions of `wgmma`."""
    match site.instruction.modifiers:
        case ("mma_async", *words):
            try:
                return _multiply(site, parse_wgmma(tuple(words)))
            except UnknownInstruction as error:
                site.fail(str(error))
        case ("fence", "sync", "aligned"):
            return _fence(site)
        case ("commit_group", "sync", "aligned"):
            site.operands(0)
            return warpgroup.together(site, lambda batch: pipeline_of(batch).commit())
        case ("wait_group", "sync", "aligned"):
            return _wait(site)
    site.unknown()


def _fence(site: Site) -> Step:
    """`wgmma.fence.sync.aligned;`: each warp's own registers, so that warps need not converge."""
    site.operands(0)
    return converge(site, lambda batch: register_use(batch.cta).fence(batch.warps))


def _wait(site: Site) -> Step:
    """`wgmma.wait_group.sync.aligned N;`."""
    (operand,) = site.operands(1)
    allowed = site.constant(operand, "number of groups")
    return warpgroup.together(site, lambda batch: pipeline_of(batch).wait(batch, allowed))


@dataclass(frozen=True, eq=False)
class _Instruction:
    """One `wgmma.mma_async`: what it computes, its registers, and how its other operands are read."""

    at: int
    operation: WarpgroupMma
    immediates: Immediates
    accumulators: Accumulators
    fragments: np.ndarray
    d: list[Read]
    a: SharedMatrix | RegisterMatrix
    b: SharedMatrix
    scale_d: Read

    def run(self, batch: Batch) -> None:
        """Start the product of one warpgroup."""
        pipeline = pipeline_of(batch)
        register_use(batch.cta).issue(batch, self.operation.shape, self.accumulators.slots, self.fragments)
        a, a_regions = self.a.elements(batch)
        b, b_regions = self.b.elements(batch)
        before = pipeline.values(batch, self.accumulators)
        d = None
        if uniform(batch, self.scale_d, "scale-d"):
            d = stacked(batch, self.d, 32) if before is None else before
        values = self.operation.compute(a, b, d, self.immediates)
        first_thread = batch.warps[:1] * batch.mask.shape[1]
        operation = AsyncOperation(batch.cta, self.at, first_thread, reads=a_regions + b_regions)
        pipeline.start(batch, Product(self.accumulators, self.fragments, operation, pipeline.committed), values)


def _multiply(site: Site, operation: WarpgroupMma) -> Step:
    """`wgmma.mma_async.sync.aligned.shape.types d, a, b-desc, scale-d{, immediates};`, a of registers or in memory."""
    operands = site.instruction.operands
    if len(operands) < 4:
        site.fail("wgmma.mma_async takes the operands d, a, b and scale-d, and immediate ones")
    target, a, b, scale_d, *rest = operands
    immediates = _immediates(site, operation, rest, isinstance(a, Vector))
    targets = [each for each in registers_of(site, target, operation.d_registers) if isinstance(each, Slot)]
    if len(targets) != operation.d_registers:
        site.fail("the accumulators of wgmma.mma_async are registers")
    writes = tuple(site.writer(each, "b32") for each in targets)
    instruction = _Instruction(
        site.index,
        operation,
        immediates,
        Accumulators(slots_of(target), writes),
        slots_of(a),
        [(site.copier if _is_off(scale_d) else site.reader)(each, "b32") for each in targets],
        register_a(site, operation, a)
        if isinstance(a, Vector)
        else shared_a(site, operation, a, bool(immediates.trans_a)),
        shared_b(site, operation, b, bool(immediates.trans_b)),
        site.reader(scale_d, "pred"),
    )
    site.decides(scale_d, "scale-d")
    _pass_on(site, instruction)
    return warpgroup.together(site, instruction.run)


def _immediates(site: Site, operation: WarpgroupMma, operands: list[Operand], a_in_registers: bool) -> Immediates:
    values = []
    for operand in operands:
        if not isinstance(operand, Immediate) or operand.kind != "int":
            site.fail("the operands of wgmma.mma_async after scale-d are constants")
        values.append(int(operand.value))
    try:
        return operation.immediates(tuple(values), a_in_registers)
    except UnknownInstruction as error:
        site.fail(str(error))


def _is_off(scale_d: Operand) -> bool:
    """Whether it is known that D does not count, so that nothing reads it."""
    return isinstance(scale_d, Immediate) and not scale_d.bits


def _pass_on(site: Site, instruction: _Instruction) -> None:
    """Note what undefined registers and bytes of shared memory make undefined: rows and columns of D."""
    target, a, _, scale_d = site.instruction.operands[:4]
    fragments = a.items if isinstance(a, Vector) else ()
    products = _DefinedProducts(instruction)
    for number, register in enumerate(registers_of(site, target, len(instruction.d))):

        def rule(batch: Batch, states: Sequence[np.ndarray], number: int = number) -> np.ndarray:
            before = states[-1] if instruction.scale_d(batch).flat[0] else DEFINED
            return before & products.of(batch, states[: len(fragments)])[..., number]

        sources = (*fragments, "shared") if _is_off(scale_d) else (*fragments, "shared", register)
        site.passes_on(sources, (register,), rule)


class _DefinedProducts:
    """Which registers of D have only products of defined elements; known until the next warpgroup comes."""

    def __init__(self, instruction: _Instruction) -> None:
        self._instruction = instruction
        self._batch: Batch | None = None
        self._known = DEFINED

    def of(self, batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        """The states, [4, 32, registers] bool; `states` are those of the fragments of A."""
        if self._batch is not batch:
            a, b = self._instruction.a.defined(batch, states), self._instruction.b.defined(batch, ())
            self._known = self._instruction.operation.defined(a, b)
            self._batch = batch
        return self._known


HANDLERS = {"wgmma": wgmma}
