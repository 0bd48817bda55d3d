"""Random Tiny programs over the whole vocabulary, as Tiny JSON in the 001 spelling, with inputs.

`programs()` is the hypothesis strategy: an op is drawn, its operands are drawn among the values that suit it, and where
the bounds of its result say that it should not be applied, nothing is added.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from programs.compute import Compute
from programs.contractions import Contractions
from programs.movements import Movements

OPS = (
    *("reshape", "permute", "expand", "pad", "shrink", "flip", "view", "pool"),
    *("unary",) * 4,
    *("binary",) * 5,
    *("where", "cast", "cast", "reduce", "reduce", "reduce"),
    *("contraction",) * 8,
    *("const", "iota", "rand", "gather", "scatter", "topk", "input"),
)


@dataclass(frozen=True)
class Program:
    """A Tiny JSON document, what some of its symbols are bound to, and the sizes of all of them in its inputs.

    For each output it has the error to allow.
    """

    document: dict
    bind: dict
    sizes: dict
    inputs: dict
    errors: dict


@st.composite
def programs(draw):
    """Draw a program of about a dozen nodes."""
    builder = Builder(draw)
    for _ in range(draw(st.integers(1, 2))):
        builder.input()
    if not builder.values:  # what was drawn was too large
        builder.const()
    for _ in range(draw(st.integers(5, 18))):
        getattr(builder, draw(st.sampled_from(OPS)))()
    return builder.program()


class Builder(Movements, Compute, Contractions):
    """Grows a program, and finishes it."""

    def program(self):
        outputs = [
            value
            for value in self.values
            if value.id.partition("#")[0] not in self.read and self.uop(value) not in ("INPUT", "CONST")
        ]
        document = {"uops": self.nodes}
        if not outputs or self.pick(False, False, True):
            outputs = self.draw(st.lists(st.sampled_from(self.values), min_size=1, max_size=4, unique=True))
            document["outputs"] = [value.id for value in outputs]
        bound = self.draw(st.lists(st.sampled_from(sorted(self.sizes)), unique=True)) if self.sizes else []
        errors = {value.id: value.bounds.error for value in outputs}
        return Program(document, {name: self.sizes[name] for name in bound}, dict(self.sizes), self.inputs, errors)
