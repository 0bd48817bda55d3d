"""A product that a plan of scheme `mma` is completed for, with what the models of its kernels ask of it."""

import functools
from dataclasses import dataclass, replace

from tinyc.analysis.candidate import Candidate, Epilogue
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.contraction import ContractionCase
from tinyc.schemes.mma.matrix_unit import MatrixUnit, matrix_unit
from tinyc.target.target import Target
from tinyc.vocabulary.broadcast import Broadcast
from tinyc.vocabulary.element_type import ElementType

MMA_NAME = "mma"
#: What a batch counts as where it is not known; m, n and k are each `extents.USUAL_EXTENT`.
USUAL_BATCH = 16


@dataclass(frozen=True)
class MmaCase(ContractionCase):
    """A contraction, the matrix unit that computes it, its pattern of Poly-View ("matmul" or "conv"), its outputs.

    `limits` are what symbols are at most where the kernel is launched.
    """

    unit: MatrixUnit
    pattern: str | None
    outputs: tuple[ElementType, ...]
    limits: tuple[tuple[str, int], ...] = ()

    @property
    def is_batched(self) -> bool:
        """Whether there is more than one matrix."""
        return self.product.batch != 1

    @property
    def is_static(self) -> bool:
        """Whether all extents are known."""
        return all(isinstance(extent, int) for extent in self.product.extents.values())

    def without_ends(self) -> "MmaCase":
        """The case without what is in front of the product and behind it: that of many proposed kernels."""
        lhs, rhs = (replace(each, names=()) for each in (self.product.lhs, self.product.rhs))
        product = replace(self.product, lhs=lhs, rhs=rhs, epilogue=Epilogue())
        return replace(self, product=product, refusals=self.refusals.anew())

    @functools.cached_property
    def transposed(self) -> "MmaCase":
        """The case of the transposed operands, in the other order."""
        return replace(self, product=self.product.transposed)

    @functools.cached_property
    def lengths(self) -> tuple[Dim, Dim, Dim, Dim]:
        """m, n, k and the batch, or what they are at most where the kernel is launched."""
        product, limits = self.product, dict(self.limits)
        m, n, k, batch = (extents.at_most(each, limits) for each in (product.m, product.n, product.k, product.batch))
        return m, n, k, batch

    @functools.cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """m, n, k and the batch as numbers: what is not known counts as a usual size, or the most that it can be."""
        given = (self.product.m, self.product.n, self.product.k, self.product.batch)
        usual = (extents.USUAL_EXTENT, extents.USUAL_EXTENT, extents.USUAL_EXTENT, USUAL_BATCH)
        m, n, k, batch = (
            size if isinstance(size, int) else min(most, often) if isinstance(most, int) else often
            for size, most, often in zip(given, self.lengths, usual, strict=True)
        )
        return m, n, k, batch

    @functools.cached_property
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
    if 0 in (product.m, product.n, product.k, product.batch):
        return "it has no elements"
    if irregular := next((each for each in product.results if isinstance(each, str)), None):
        return f"an output is not written at regular distances: {irregular}"
    known = [each.element for each in product.stored]
    if len(known) != len(candidate.outputs):  # what a fusion proposes has no buffers yet
        types = candidate.tensors[len(candidate.tensors) - len(candidate.outputs) :]
        known = [each.element for each in types] or [product.accumulator]
    noted = PlanRefusals(candidate.name, candidate.where) if refusals is None else refusals
    return MmaCase(MMA_NAME, product, target, noted, unit, candidate.pattern, tuple(known), candidate.limits)
