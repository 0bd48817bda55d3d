"""Random programs: how a node is added, and the leaves.

A `Value` is a node's result with its type and its `Bounds`; what `Growth.node` is given without bounds is not added.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from programs import value_bounds
from programs.value_bounds import Bounds
from tinyc.diagnostics import TinycError
from tinyc.executors.elements import convert
from tinyc.expr import extents
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.infer import infer
from tinyc.vocabulary.types import TensorType

MAX_ELEMENTS = 600
MAX_RANK = 5
SYMBOLS = ("M", "N", "K")
FLOATS = tuple(element for element in ElementType if element.is_float)
_INPUTS = (*FLOATS, *FLOATS, *FLOATS, *ElementType)  # most of what matters is float


@dataclass(frozen=True)
class Value:
    """A node's result; `factors` are the operands of a product, which a sum forms in its own type."""

    id: str
    type: TensorType
    bounds: Bounds
    factors: "tuple[Bounds, Bounds] | None" = None


@dataclass
class Growth:
    """A program that grows node by node; `sizes` are the actual sizes of the symbols that the inputs have told."""

    draw: object
    nodes: list = field(default_factory=list)
    values: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)
    read: set = field(default_factory=set)

    # --- what every op needs ------------------------------------------------------------------------------------------

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def integer(self, low, high):
        return self.draw(st.integers(low, max(low, high)))

    def value(self, suits=lambda value: True):
        found = [value for value in self.values if suits(value)]
        return self.draw(st.sampled_from(found)) if found else None

    def shape(self, dims):
        return tuple(extents.evaluate(dim, self.sizes) for dim in dims)

    def count(self, dims):
        return math.prod(self.shape(dims))

    def dim(self):
        """Draw an extent: an integer, or a symbol that an input has told."""
        return self.pick(0, 1, 1, 2, 3, *(extents.symbol(name) for name in self.sizes))

    def node(self, uop, sources, arg, types, *bounds, factors=None):
        """Add a node unless a bound is missing or a result is too large."""
        if None in bounds or any(len(t.shape) > MAX_RANK or self.count(t.shape) > MAX_ELEMENTS for t in types):
            return None
        name = f"n{len(self.nodes)}"
        self.nodes.append({"id": name, "uop": uop, "src": [getattr(s, "id", s) for s in sources], "arg": arg})
        self.read.update(source.id.partition("#")[0] for source in sources if isinstance(source, Value))
        added = [
            Value(name if position == 0 else f"{name}#{position}", each, bound, factors)
            for position, (each, bound) in enumerate(zip(types, bounds, strict=True))
        ]
        self.values += added
        return added[0]

    def apply(self, uop, sources, arg, given, *bounds):
        """Add a node whose types `infer` tells; nothing where it refuses the operands."""
        try:
            types = infer(uop.lower(), [source.type for source in sources], given).types
        except TinycError:
            return None
        return self.node(uop, sources, arg, types, *bounds)

    def uop(self, value):
        return next(node["uop"] for node in self.nodes if node["id"] == value.id.partition("#")[0])

    # --- leaves -------------------------------------------------------------------------------------------------------

    def input(self, element=None, dims=None, bounds=None):
        element = ElementType(element or self.draw(st.sampled_from(_INPUTS)))
        if dims is None:
            for name in self.draw(st.lists(st.sampled_from(SYMBOLS), max_size=1)):
                self.sizes.setdefault(name, self.integer(0, 5))
            new = [extents.symbol(name) for name in self.sizes]
            dims = tuple(self.draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, *new, *new]), max_size=4)))
            missing = {name for name in self.sizes if not self.is_told(name) and extents.symbol(name) not in dims}
            dims += tuple(extents.symbol(name) for name in sorted(missing))
        bounds = bounds or self.input_bounds(element)
        name = f"x{len(self.inputs)}"
        arg = {"tensor_id": name, "dtype": element.json_name, "shape": written(dims)}
        value = self.node("INPUT", [], arg, [TensorType(element, tuple(dims))], bounds)
        if value is None:
            self.sizes = {name: size for name, size in self.sizes.items() if self.is_told(name)}
        else:
            self.inputs[name] = self.array(element, self.shape(dims), bounds)
        return value

    def is_told(self, name):
        return any(extents.symbol(name) in value.type.shape for value in self.values if self.uop(value) == "INPUT")

    def input_bounds(self, element):
        if element.is_bool:
            return value_bounds.BOOL
        if element.is_integer:
            return self.pick(Bounds(0, 7, whole=True), checked_small(element), value_bounds.full(element))
        whole = Bounds(-4, 4, whole=True)
        return self.pick(Bounds(-1, 1), Bounds(0.5, 2), Bounds(0.5, 2), whole, replace(whole, special=True))

    def array(self, element, shape, bounds):
        generator = np.random.default_rng(self.integer(0, 2**32 - 1))
        if bounds.whole:
            kind = np.uint64 if element is ElementType.UI64 else np.int64
            numbers = generator.integers(bounds.low, bounds.high, shape, kind, endpoint=True)
        else:
            numbers = generator.uniform(bounds.low, bounds.high, shape)
        if bounds.special:
            special = generator.choice([np.nan, np.inf, -np.inf], shape)
            numbers = np.where(generator.random(shape) < 0.3, special, numbers.astype(np.float64))
        return convert(numbers, element.dtype)

    def const(self):
        element = self.draw(st.sampled_from(list(ElementType)))
        dims = tuple(self.dim() for _ in range(self.integer(0, 3)))
        number = self.number(element)
        arg = {"value": number, "dtype": element.json_name, "shape": written(dims)}
        if not dims:
            del arg["shape"]
        bounds = Bounds(number, number, whole=float(number).is_integer())
        return self.node("CONST", [], arg, [TensorType(element, dims)], bounds)

    def stored(self):
        """Add a constant that is a tensor."""
        element = self.draw(st.sampled_from(list(ElementType)))
        shape = tuple(self.draw(st.lists(st.sampled_from([0, 1, 2, 3, 5]), max_size=3)))
        bounds = self.input_bounds(element)
        array = self.array(element, shape, bounds)
        numbers = array.astype(np.float64) if element is ElementType.BF16 else array
        arg = {"values": numbers.reshape(-1).tolist(), "dtype": element.json_name, "shape": list(shape)}
        return self.node("CONST", [], arg, [TensorType(element, shape)], bounds)

    def number(self, element):
        if element.is_bool:
            return self.pick(False, True)
        if element.is_integer:
            return self.integer(max(-5, element.integer_range[0]), 5)
        return self.pick(-2.0, -0.5, 0.0, 0.25, 1.0, 1.5, 3.0)

    def iota(self):
        dims = tuple(self.dim() for _ in range(self.integer(1, 3)))
        axis = self.integer(0, len(dims) - 1)
        element = self.pick(*(each for each in ElementType if not each.is_bool))
        arg = {"shape": written(dims), "axis": axis, "dtype": element.json_name}
        bounds = Bounds(0, max(self.shape(dims)[axis] - 1, 0), whole=True)
        self.node("IOTA", [], arg, [TensorType(element, dims)], bounds)

    def rand(self):
        element, distribution = self.pick(*FLOATS), self.pick("uniform", "normal")
        dims = tuple(self.dim() for _ in range(self.integer(0, 3)))
        arg = {"shape": written(dims), "dtype": element.json_name, "distribution": distribution}
        arg |= {"seed": self.integer(0, 2**40), "stream": self.integer(0, 3)}
        bounds = Bounds(0, 1) if distribution == "uniform" else Bounds(-6, 6, value_bounds.ulp(element, 6))
        self.node("RAND", [], arg, [TensorType(element, dims)], bounds)


def checked_small(element):
    return Bounds(max(-8, element.integer_range[0]), 8, whole=True)


def written(dims):
    """Return a shape as JSON has it."""
    return [dim if isinstance(dim, int) else str(dim) for dim in dims]
