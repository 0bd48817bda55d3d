"""A product that a plan of scheme `mma` is completed for, with what the models of its kernels ask of it."""

from dataclasses import dataclass

from tinyc.analysis.candidate import Candidate
from tinyc.schemes.contraction import ContractionCase
from tinyc.schemes.mma.matrix_unit import MatrixUnit, matrix_unit
from tinyc.schemes.scheme import PlanRefusals
from tinyc.target.target import Target
from tinyc.vocabulary.broadcast import Broadcast
from tinyc.vocabulary.element_type import ElementType

NAME = "mma"


@dataclass(frozen=True)
class MmaCase(ContractionCase):
    """A contraction, the matrix unit that computes it, its pattern of Poly-View ("matmul" or "conv"), its outputs."""

    unit: MatrixUnit
    pattern: str | None
    outputs: tuple[ElementType, ...]

    @property
    def is_batched(self) -> bool:
        """Whether there is more than one matrix."""
        return self.product.batch != 1

    @property
    def full_inputs(self) -> int:
        """How many operands of the epilogue have an element for each accumulator."""
        return sum(each in (Broadcast.FULL, Broadcast.GATHER) for each in self.product.epilogue.inputs)

    @property
    def store_elements(self) -> int:
        """How many elements of the widest output one global store takes, of 16 bytes."""
        return 16 // max(each.size_bytes for each in self.outputs)


def mma_case(
    candidate: Candidate, target: Target, precision: str = "ieee", refusals: PlanRefusals | None = None
) -> MmaCase | str:
    """The case that a candidate is, or why tensor cores do not compute it."""
    product = candidate.product
    if product is None:
        return candidate.no_product
    unit = matrix_unit(product, target, precision)
    if isinstance(unit, str):
        return unit
    known = [each.element for each in product.results if not isinstance(each, str)]
    if len(known) != len(candidate.outputs):  # what a fusion proposes has no buffers yet
        types = candidate.tensors[len(candidate.tensors) - len(candidate.outputs) :]
        known = [each.element for each in types] or [product.accumulator]
    refusals = refusals or PlanRefusals(candidate)
    return MmaCase(NAME, product, target, refusals, unit, candidate.pattern, tuple(known))
