"""The matrix products that `gemm.py` measures: sizes, element type, where operands lie, and what follows the product.

In: names of sets, of layouts, types and epilogues. Out: `Product`s, each with its program in Tiny.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tinyc.plan.fields import Plan
from workloads.graph import Graph, Program, Tensor

Shape = tuple[int, int, int]

SKINNY_SIDES = (4096, 14336)
#: Shapes m, n, k by set.
SHAPES: dict[str, tuple[Shape, ...]] = {
    "cubes": tuple((size, size, size) for size in (1024, 2048, 4096, 8192, 16384)),
    "llm": ((4096, 4096, 14336), (8192, 1024, 28672)),
    "skinny": tuple((m, n, k) for m in (1, 16, 128) for n, k in itertools.product(SKINNY_SIDES, SKINNY_SIDES)),
    "ragged": ((4095, 4097, 4096), (1000, 3000, 777)),
}
#: For a and b: "n" is row-major [m, k] and [k, n], "t" lies transposed.
LAYOUTS = ("nn", "nt", "tn", "tt")
EPILOGUES = ("none", "bias_relu", "residual")


@dataclass(frozen=True)
class Kind:
    """An element type as Tiny calls it: of the operands, the sums, and the output; and the precision that it asks for.

    An output may be off by `rtol` of itself, and by `atol` of the root of k, which is how large the sums are.
    """

    operand: str
    accumulator: str
    output: str
    bytes: int
    output_bytes: int
    rtol: float
    atol: float
    precision: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether sums are those of integers."""
        return self.atol == 0


#: 16-bit outputs are rounded once; tf32 has 10 bits of each factor; integers are exact.
KINDS = {
    "f16": Kind("fp16", "fp32", "fp16", 2, 2, 1e-3, 1e-3),
    "bf16": Kind("bf16", "fp32", "bf16", 2, 2, 8e-3, 1e-3),
    "i8": Kind("i8", "i32", "i32", 1, 4, 0, 0),
    "tf32": Kind("fp32", "fp32", "fp32", 4, 4, 1e-3, 4e-3, "tf32"),
}


@dataclass(frozen=True)
class Product:
    """c[m, n] = a @ b, or relu(a @ b + bias[n]), or a @ b + residual[m, n]."""

    m: int
    n: int
    k: int
    element: str = "f16"
    layout: str = "nn"
    epilogue: str = "none"

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k} {self.element} {self.layout} {self.epilogue}"

    @property
    def kind(self) -> Kind:
        """Its element type."""
        return KINDS[self.element]

    @property
    def plain(self) -> "Product":
        """The same without what follows the product."""
        return replace(self, epilogue="none")

    @property
    def flops(self) -> int:
        """A multiply-add is two."""
        return 2 * self.m * self.n * self.k

    @property
    def bytes(self) -> int:
        """Each operand read once, and the output written once."""
        added = {"none": 0, "bias_relu": self.n, "residual": self.m * self.n}[self.epilogue]
        output = self.m * self.n + added
        return (self.m * self.k + self.k * self.n) * self.kind.bytes + output * self.kind.output_bytes

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the inputs as they lie in memory, by name."""
        a = (self.m, self.k) if self.layout[0] == "n" else (self.k, self.m)
        b = (self.k, self.n) if self.layout[1] == "n" else (self.n, self.k)
        more = {"none": {}, "bias_relu": {"bias": (self.n,)}, "residual": {"residual": (self.m, self.n)}}
        return {"a": a, "b": b, **more[self.epilogue]}

    @property
    def program(self) -> Program:
        """The program in Tiny; its output is `c`."""
        graph, kind, shapes = Graph(), self.kind, self.shapes
        a, b = (self._factor(graph, name, shapes[name], lies) for name, lies in zip("ab", self.layout, strict=True))
        space = (self.m, self.n, self.k)
        c = (a.expand(space, 0, 2) * b.permute(1, 0).expand(space, 1, 2)).reduce("SUM", 2, dtype=kind.accumulator)
        if self.epilogue == "bias_relu":
            bias = graph.input("bias", kind.output, self.n).to(kind.accumulator)
            c = (c + bias.expand(c.shape, 1)).apply("RELU")
        elif self.epilogue == "residual":
            c = c + graph.input("residual", kind.output, *shapes["residual"]).to(kind.accumulator)
        return graph.program(c.to(kind.output))

    def _factor(self, graph: Graph, name: str, shape: Sequence[int], lies: str) -> Tensor:
        stored = graph.input(name, self.kind.operand, *shape)
        factor = stored if lies == "n" else stored.permute(1, 0)
        return factor.to(self.kind.accumulator) if self.kind.is_exact else factor  # integers are widened first

    def plan(self, given: Plan | None) -> Plan | None:
        """The plan that it is compiled by: what is given, and the precision that its type needs."""
        precision = self.kind.precision
        return given if precision is None else replace(given or Plan(), precision=precision)


def shapes_of(names: Iterable[str]) -> list[Shape]:
    """The shapes of sets, and those that are written as 4096x4096x1024.

    Raises:
        ValueError: a name is neither.
    """
    found: list[Shape] = []
    for name in names:
        written = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)x([1-9]\d*)", name)
        if written is None and name not in SHAPES:
            raise ValueError(
                f"'{name}' is no set of shapes; choose {', '.join(SHAPES)}, or write one as 4096x4096x1024"
            )
        found += SHAPES[name] if written is None else [(int(written[1]), int(written[2]), int(written[3]))]
    return found


def products(
    shapes: Iterable[Shape], elements: Sequence[str], layouts: Sequence[str], epilogues: Sequence[str], crossed: bool
) -> Iterator[Product]:
    """Products of these shapes: all combinations if `crossed`, else those that differ from the first in one way."""
    first = elements[0], layouts[0], epilogues[0]
    for shape in shapes:
        for choice in itertools.product(elements, layouts, epilogues):
            if crossed or sum(mine != usual for mine, usual in zip(choice, first, strict=True)) <= 1:
                yield Product(*shape, *choice)
