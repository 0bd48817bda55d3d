"""Random Tiny programs over the whole vocabulary, as Tiny JSON in the 001 spelling, with inputs.

`programs()` is the hypothesis strategy: an op is drawn, its operands are drawn among the values that suit it, and where
the bounds of its result say that it should not be applied, nothing is added. `fusion_programs()` draws those in which
fusion has much to decide.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

from programs.compute import Compute
from programs.contractions import Contractions
from programs.fusable import Fusable
from programs.growth import FLOATS
from programs.movements import Movements

OPS = (
    *("reshape", "permute", "expand", "pad", "shrink", "flip", "view", "pool"),
    *("unary",) * 4,
    *("binary",) * 5,
    *("where", "cast", "cast", "reduce", "reduce", "reduce"),
    *("contraction",) * 8,
    *("const", "stored", "stored", "iota", "rand", "gather", "scatter", "topk", "input"),
)

#: The same for programs of which kernels can be formed in many ways.
FUSION_OPS = (
    *("normalise",) * 5,
    *("shift",) * 3,
    *("cumulate", "cumulate", "contraction", "contraction", "look_up", "look_up", "reduce"),
    *("unary", "binary", "binary", "cast", "where", "gather", "stored"),
    *("reshape", "permute", "permute", "expand", "pad", "shrink", "flip", "pool", "iota", "topk", "scatter"),
)


@dataclass(frozen=True)
class Program:
    """A Tiny JSON document, what some of its symbols are bound to, and the sizes of all of them in its inputs.

    For each output it has the error to allow. The inputs that are `weights` are given once, before the first run.
    """

    document: dict
    bind: dict
    sizes: dict
    inputs: dict
    errors: dict
    weights: tuple[str, ...] = ()


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


@st.composite
def fusion_programs(draw):
    """Draw a program whose kernels can be formed in many ways: most of what is added reads what came just before."""
    builder = FusionBuilder(draw)
    builder.input(draw(st.sampled_from(FLOATS)), draw(st.sampled_from(((3, 4), (2, 5), (4, 1, 3), (6,)))))
    if draw(st.booleans()):
        builder.input(draw(st.sampled_from(FLOATS)))
    for _ in range(draw(st.integers(4, 10))):
        getattr(builder, draw(st.sampled_from(FUSION_OPS)))()
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


class FusionBuilder(Builder, Fusable):
    """Grows a program from its last values more often than from its first ones, and returns several of them."""

    def value(self, suits=lambda value: True):
        found = [value for value in self.values if suits(value)]
        return self.pick(*found[-3:], *found[-3:], *found) if found else None
