"""What a program says of its inputs and outputs: names, types, and what has to hold of their sizes. No MLIR here.

In: a `Program`. Out: frozen data; of a module at any layer, `executors/signature.py` gives the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tinyc.diagnostics import TinycError, suggest
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.runtime.program import Program
from tinyc.vocabulary.types import TensorType, symbols_of


@dataclass(frozen=True)
class NamedTensor:
    """One input or output: its name and its tensor type, and whether it is an input that is given once."""

    name: str
    type: TensorType
    is_weight: bool = False

    def __str__(self) -> str:
        return f"'{self.name}' ({self.type})"


@dataclass(frozen=True)
class Signature:
    """The inputs and outputs of a program, in order; of a lowered one the weights stand behind the other inputs."""

    inputs: tuple[NamedTensor, ...]
    outputs: tuple[NamedTensor, ...]

    @property
    def weights(self) -> tuple[NamedTensor, ...]:
        """The inputs that are weights."""
        return tuple(each for each in self.inputs if each.is_weight)

    @property
    def run_inputs(self) -> tuple[NamedTensor, ...]:
        """The inputs that each run takes."""
        return tuple(each for each in self.inputs if not each.is_weight)


@dataclass(frozen=True)
class Boundary:
    """What a program says of its inputs and outputs, whatever layer it is at.

    `indexes` has for each input the extents of the axes that its elements index, none for what is no index.
    """

    signature: Signature
    assumptions: tuple[Assumption, ...]
    indexes: tuple[tuple[Dim, ...], ...]

    def with_sizes(self, sizes: Mapping[str, int], option: str) -> "Boundary":
        """The boundary where symbols of the inputs have these sizes, which `option` has said.

        Raises:
            TinycError: `UnboundSymbol`: there is no such symbol.
        """
        known = symbols_of([each.type for each in self.signature.inputs])
        for name in sizes:
            if name not in known:
                message = f"{option}: the model has no symbol '{name}'{suggest(name, known)}"
                raise TinycError("UnboundSymbol", message)
        told = tuple(Assumption(extents.symbol(name), "eq", size) for name, size in sizes.items())
        return replace(self, assumptions=(*self.assumptions, *told))

    @property
    def assumed_sizes(self) -> dict[str, int]:
        """The symbols whose value the program assumes."""
        return {
            name: each.rhs
            for each in self.assumptions
            for name in extents.symbols(each.lhs)
            if each.predicate == "eq" and each.lhs == extents.symbol(name) and isinstance(each.rhs, int)
        }


def boundary_of_program(program: Program) -> Boundary:
    """The boundary of a host program."""
    inputs, weights, outputs = (
        tuple(
            NamedTensor(name, TensorType(buffer.element, buffer.shape), kind == "weight")
            for name, buffer in program.named(kind).items()
        )
        for kind in ("input", "weight", "output")
    )
    indexes = tuple(buffer.indexes for buffer in (*program.of_kind("input"), *program.of_kind("weight")))
    return Boundary(Signature((*inputs, *weights), outputs), program.assumptions, indexes)
