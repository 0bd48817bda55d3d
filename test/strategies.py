"""Random Tiny programs over the whole vocabulary, as Tiny JSON in the 001 spelling, with inputs.

`programs()` is the hypothesis strategy. Each value carries its type and its `Bounds`; an op is drawn, its operands are
drawn among the values that suit it, and where its bounds say that it should not be applied, nothing is added.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

import value_bounds
from tinyc.analysis import extents
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.infer import infer
from tinyc.dialects.tiny.types import DTYPE_NAMES, ELEMENTS, FLOATS, TensorType, integer_range, is_float, is_integer
from tinyc.executors.elements import DTYPES, convert
from value_bounds import Bounds

MAX_ELEMENTS = 600
MAX_RANK = 5
SYMBOLS = ("M", "N", "K")
_INPUTS = (*FLOATS, *FLOATS, *FLOATS, *ELEMENTS)  # most of what matters is float


@dataclass(frozen=True)
class Program:
    """A Tiny JSON document, what its symbols are bound to, its inputs, and for each output the error to allow."""

    document: dict
    bind: dict
    inputs: dict
    errors: dict


@dataclass(frozen=True)
class Value:
    """A node's result; `factors` are the operands of a product, which a sum forms in its own type."""

    id: str
    type: TensorType
    bounds: Bounds
    factors: "tuple[Bounds, Bounds] | None" = None


@st.composite
def programs(draw):
    """Draw a program of about a dozen nodes."""
    builder = Builder(draw)
    for _ in range(draw(st.integers(1, 2))):
        builder.input()
    for _ in range(draw(st.integers(5, 18))):
        getattr(builder, draw(st.sampled_from(OPS)))()
    return builder.program()


@dataclass
class Builder:
    """Grows a program node by node; `sizes` are the actual sizes of the symbols that the inputs have told so far."""

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
        return Program(document, {name: self.sizes[name] for name in bound}, self.inputs, errors)

    def uop(self, value):
        return next(node["uop"] for node in self.nodes if node["id"] == value.id.partition("#")[0])

    # --- leaves -------------------------------------------------------------------------------------------------------

    def input(self, element=None, dims=None, bounds=None):
        element = element or self.draw(st.sampled_from(_INPUTS))
        if dims is None:
            for name in self.draw(st.lists(st.sampled_from(SYMBOLS), max_size=1)):
                self.sizes.setdefault(name, self.integer(0, 5))
            new = [extents.symbol(name) for name in self.sizes]
            dims = tuple(self.draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, *new, *new]), max_size=4)))
            missing = {name for name in self.sizes if not self.is_told(name) and extents.symbol(name) not in dims}
            dims += tuple(extents.symbol(name) for name in sorted(missing))
        bounds = bounds or self.input_bounds(element)
        name = f"x{len(self.inputs)}"
        arg = {"tensor_id": name, "dtype": DTYPE_NAMES[element], "shape": written(dims)}
        value = self.node("INPUT", [], arg, [TensorType(element, tuple(dims))], bounds)
        if value is None:
            self.sizes = {name: size for name, size in self.sizes.items() if self.is_told(name)}
        else:
            self.inputs[name] = self.array(element, self.shape(dims), bounds)
        return value

    def is_told(self, name):
        return any(extents.symbol(name) in value.type.shape for value in self.values if self.uop(value) == "INPUT")

    def input_bounds(self, element):
        if element == "i1":
            return value_bounds.BOOL
        if is_integer(element):
            return self.pick(Bounds(0, 7, whole=True), checked_small(element), value_bounds.full(element))
        whole = Bounds(-4, 4, whole=True)
        return self.pick(Bounds(-1, 1), Bounds(0.5, 2), Bounds(0.5, 2), whole, replace(whole, special=True))

    def array(self, element, shape, bounds):
        generator = np.random.default_rng(self.integer(0, 2**32 - 1))
        if bounds.whole:
            kind = np.uint64 if element == "ui64" else np.int64
            numbers = generator.integers(bounds.low, bounds.high, shape, kind, endpoint=True)
        else:
            numbers = generator.uniform(bounds.low, bounds.high, shape)
        if bounds.special:
            special = generator.choice([np.nan, np.inf, -np.inf], shape)
            numbers = np.where(generator.random(shape) < 0.3, special, numbers.astype(np.float64))
        return convert(numbers, DTYPES[element])

    def const(self):
        element = self.draw(st.sampled_from(ELEMENTS))
        dims = tuple(self.dim() for _ in range(self.integer(0, 3)))
        number = self.number(element)
        arg = {"value": number, "dtype": DTYPE_NAMES[element], "shape": written(dims)}
        if not dims:
            del arg["shape"]
        bounds = Bounds(number, number, whole=float(number).is_integer())
        return self.node("CONST", [], arg, [TensorType(element, dims)], bounds)

    def number(self, element):
        if element == "i1":
            return self.pick(False, True)
        if is_integer(element):
            return self.integer(max(-5, integer_range(element)[0]), 5)
        return self.pick(-2.0, -0.5, 0.0, 0.25, 1.0, 1.5, 3.0)

    def iota(self):
        dims = tuple(self.dim() for _ in range(self.integer(1, 3)))
        axis = self.integer(0, len(dims) - 1)
        element = self.pick(*(each for each in ELEMENTS if each != "i1"))
        arg = {"shape": written(dims), "axis": axis, "dtype": DTYPE_NAMES[element]}
        bounds = Bounds(0, max(self.shape(dims)[axis] - 1, 0), whole=True)
        self.node("IOTA", [], arg, [TensorType(element, dims)], bounds)

    def rand(self):
        element, distribution = self.pick(*FLOATS), self.pick("uniform", "normal")
        dims = tuple(self.dim() for _ in range(self.integer(0, 3)))
        arg = {"shape": written(dims), "dtype": DTYPE_NAMES[element], "distribution": distribution}
        arg |= {"seed": self.integer(0, 2**40), "stream": self.integer(0, 3)}
        bounds = Bounds(0, 1) if distribution == "uniform" else Bounds(-6, 6, value_bounds.ulp(element, 6))
        self.node("RAND", [], arg, [TensorType(element, dims)], bounds)

    # --- movements ----------------------------------------------------------------------------------------------------

    def moved(self, uop, value, arg, given, bounds=None):
        return self.apply(uop, [value], arg, given, bounds or value.bounds)

    def reshape(self):
        value = self.value()
        dims = list(value.type.shape)
        for _ in range(self.integer(1, 3)):
            at = self.integer(0, len(dims))
            change = self.pick("insert", "remove", "merge", "split")
            if change == "insert":
                dims.insert(at, 1)
            elif change == "remove" and at < len(dims) and dims[at] == 1:
                del dims[at]
            elif change == "merge" and at + 1 < len(dims):
                dims[at : at + 2] = [dims[at] * dims[at + 1]]
            elif change == "split" and at < len(dims) and isinstance(dims[at], int) and dims[at] % 2 == 0:
                dims[at : at + 1] = [2, dims[at] // 2]
        self.moved("RESHAPE", value, {"result_shape": written(dims)}, {"shape": tuple(dims)})

    def permute(self):
        value = self.value()
        perm = tuple(self.draw(st.permutations(range(value.type.rank))))
        self.moved("PERMUTE", value, {"perm": list(perm)}, {"perm": perm})

    def expand(self):
        value = self.value()
        dims = [self.dim() if dim == 1 and self.pick(False, True) else dim for dim in value.type.shape]
        axes = list(range(len(dims)))
        arg = {}
        for _ in range(self.integer(0, 2)):
            at = self.pick(0, self.integer(0, len(dims)))
            dims.insert(at, self.dim())
            axes = [axis + (axis >= at) for axis in axes]
        if len(dims) == value.type.rank:
            if self.pick(False, True):
                kept = [k for k, dim in enumerate(dims) if dim == value.type.shape[k]]
                arg["broadcast_dimensions"] = kept
        elif axes != list(range(len(dims) - len(axes), len(dims))) or self.pick(False, True):
            arg["broadcast_dimensions"] = axes
        given = {"shape": tuple(dims), "broadcast_dimensions": tuple(axes)}
        self.moved("EXPAND", value, {"result_shape": written(dims), **arg}, given)

    def pad(self):
        value = self.value()
        lo, hi = ([self.pick(0, 0, 1, 2) for _ in value.type.shape] for _ in range(2))
        arg, fill = {"pad": [list(pair) for pair in zip(lo, hi, strict=True)]}, 0
        if self.pick(False, True):
            arg["value"] = fill = self.number(value.type.element)
        bounds = value_bounds.union(None, value.bounds, Bounds(fill, fill, whole=float(fill).is_integer()))
        self.moved("PAD", value, arg, {"lo": tuple(lo), "hi": tuple(hi), "value": fill}, bounds)

    def shrink(self):
        value = self.value()
        lo, hi, step = [], [], []
        for dim, size in zip(value.type.shape, self.shape(value.type.shape), strict=True):
            low = self.integer(0, size)
            lo.append(low)
            hi.append(self.pick(dim, self.integer(low, size)))
            step.append(self.pick(1, 1, 2))
        arg = {"lo": written(lo), "hi": written(hi)} | ({"step": step} if max(step, default=1) > 1 else {})
        self.moved("SHRINK", value, arg, {"lo": tuple(lo), "hi": tuple(hi), "step": tuple(step)})

    def flip(self):
        value = self.value()
        axes = [axis for axis in range(value.type.rank) if self.pick(False, True)]
        self.moved("FLIP", value, {"axes": axes}, {"axes": tuple(axes)})

    def pool(self):
        value = self.value(lambda each: each.type.rank)
        if value is None:
            return
        windowed = self.integer(1, min(2, value.type.rank))
        kernel, stride, dilation = (tuple(self.pick(1, 2, 3) for _ in range(windowed)) for _ in range(3))
        sizes = self.shape(value.type.shape)[-windowed:]
        if any(d * (k - 1) + 1 > size for size, k, d in zip(sizes, kernel, dilation, strict=True)):
            return
        given = {"kernel": kernel, "stride": stride, "dilation": dilation}
        self.moved("POOL", value, {key: list(entry) for key, entry in given.items()}, given)

    def view(self):
        from tinyc.analysis import index_map

        value = self.value(lambda each: each.type.is_static)
        if value is None:
            return
        dims = [self.pick(1, 2, 3) for _ in range(self.integer(0, 3))]
        if 0 in value.type.shape:
            dims.append(0)
        expressions = [self.index_expression(extent, dims) for extent in value.type.shape]
        arg = {"result_shape": written(dims), "index_map": {"map": expressions}}
        indices = tuple(index_map.parse(text, len(dims)) for text in expressions)
        self.moved("VIEW", value, arg, {"shape": tuple(dims), "map": indices})

    def index_expression(self, extent, dims):
        """Draw an expression over the result axes that stays in 0 … extent - 1."""
        room = max(extent - 1, 0)
        constant = self.integer(0, room)
        room -= constant
        terms = [str(constant)]
        for axis, size in enumerate(dims):
            kind, number = self.pick("skip", "times", "floordiv", "mod"), self.pick(1, 2, 3)
            reach = {"skip": 0, "times": (size - 1) * number, "floordiv": (size - 1) // number, "mod": number - 1}[kind]
            if kind != "skip" and reach <= room:
                room -= max(reach, 0)
                terms.append(f"(i{axis} {kind} {number})" if kind != "times" else f"{number} * i{axis}")
        return " + ".join(terms)

    # --- compute ------------------------------------------------------------------------------------------------------

    def unary(self):
        value = self.value()
        uops = UNARY[kind_of(value.type.element)]
        found = {uop: value_bounds.unary(uop, value.type.element, value.bounds) for uop in uops}
        uop = self.pick(*(uop for uop in uops if found[uop]))
        self.apply(uop, [value], {}, {}, found[uop])

    def binary(self):
        lhs = self.value()
        rhs = self.partner(lhs)
        if rhs is None:
            return
        if not isinstance(rhs, Value):
            bounds = Bounds(rhs, rhs, whole=float(rhs).is_integer())
            sources, dims, element = [lhs, rhs], lhs.type.shape, lhs.type.element
        else:
            bounds, sources = rhs.bounds, [lhs, rhs]
            dims = tuple(b if a == 1 else a for a, b in zip(lhs.type.shape, rhs.type.shape, strict=True))
            element = max(lhs.type.element, rhs.type.element, key=lambda e: e == "f32")
        uops = BINARY[kind_of(element)]
        found = {uop: value_bounds.binary(uop, element, lhs.bounds, bounds) for uop in uops}
        uop = self.pick(*(uop for uop in uops if found[uop]))
        result = TensorType("i1" if uop.startswith("CMP") else element, dims)
        self.node(uop, sources, {}, [result], found[uop], factors=(lhs.bounds, bounds) if uop == "MUL" else None)

    def partner(self, lhs):
        """Draw a second operand: a value that fits after the importer's repairs, a new input, or an immediate."""
        choice = self.pick("value", "value", "input", "immediate")
        if choice == "immediate":
            return self.number(lhs.type.element) if lhs.type.element != "i1" else None
        if choice == "input":
            return self.input(lhs.type.element, lhs.type.shape)
        return self.value(lambda each: fits(lhs.type, each.type))

    def where(self):
        if_true = self.value()
        if_false = self.value(lambda each: each.type == if_true.type)
        condition = self.value(lambda each: each.type == TensorType("i1", if_true.type.shape))
        condition = condition or self.input("i1", if_true.type.shape)
        if condition is not None:
            bounds = value_bounds.union(None, if_true.bounds, if_false.bounds)
            self.apply("WHERE", [condition, if_true, if_false], {}, {}, bounds)

    def cast(self):
        value, target = self.value(), self.draw(st.sampled_from(ELEMENTS))
        bounds = value_bounds.cast(value.type.element, target, value.bounds)
        self.apply("CAST", [value], {"to": DTYPE_NAMES[target]}, {"element": target}, bounds)

    def reduce(self):
        value = self.value(lambda each: each.type.rank) or self.value()
        axes = [axis for axis in range(value.type.rank) if self.pick(False, True, True)]
        op, accumulator = self.pick("SUM", "SUM", "MAX", "MIN", "PROD"), self.accumulator(value.type.element)
        terms = value.bounds
        source = value.type.element
        if op == "SUM" and value.factors:
            terms, source = value_bounds.product(source, accumulator, *value.factors), accumulator
            if terms is None:
                return
        count = self.count(value.type.shape[axis] for axis in axes)
        arg = {"op": op, "axes": [self.written_axis(value, axis) for axis in axes], "dtype": DTYPE_NAMES[accumulator]}
        if accumulator != "i1" and self.pick(False, False, True):
            arg["init"] = init = self.number(accumulator)
            terms = value_bounds.union(None, terms, Bounds(init, init, whole=float(init).is_integer()))
            count += 1
        given = {"op": op.lower(), "axes": tuple(axes), "element": accumulator}
        self.apply("REDUCE", [value], arg, given, value_bounds.reduce(op, source, accumulator, terms, count))

    def accumulator(self, element):
        if is_float(element):
            return self.pick(*FLOATS, "f32", "f32")
        return self.pick(*(("i1",) if element == "i1" else ()), "i8", "i32", "i64", "ui8", "ui32", "f32", "f64")

    def written_axis(self, value, axis):
        """Write an axis as itself, counted from the end, or as the symbol that names it alone."""
        dim = value.type.shape[axis]
        spellings = [axis, axis - value.type.rank]
        if str(dim) in SYMBOLS and value.type.shape.count(dim) == 1:
            spellings.append(str(dim))
        return self.pick(*spellings)

    # --- data-dependent -----------------------------------------------------------------------------------------------

    def index(self, extent):
        """Draw an index tensor whose values are in 0 … extent - 1, or None."""

        def suits(value):
            inside = value.bounds.low >= 0 and value.bounds.high < extent
            return value.type.element in ("i32", "i64") and (inside or not self.count(value.type.shape))

        found = self.value(suits) if self.pick(False, True) else None
        if found is not None or extent == 0:
            return found
        dims = tuple(self.dim() for _ in range(self.integer(0, 2)))
        return self.input(self.pick("i32", "i64"), dims, Bounds(0, extent - 1, whole=True))

    def axis_of(self, value):
        axis = self.integer(0, value.type.rank - 1)
        return axis, self.shape(value.type.shape)[axis]

    def gather(self):
        data = self.value(lambda each: each.type.rank)
        if data is None:
            return
        axis, extent = self.axis_of(data)
        index = self.index(extent)
        if index is not None:
            self.apply("GATHER", [data, index], {"axis": axis}, {"axis": axis}, data.bounds)

    def scatter(self):
        data = self.value(lambda each: each.type.rank)
        if data is None:
            return
        axis, extent = self.axis_of(data)
        index = self.index(extent)
        op = self.pick("SET", "ADD") if data.type.element != "i1" else "SET"
        if index is None:
            return
        dims = (*data.type.shape[:axis], *index.type.shape, *data.type.shape[axis + 1 :])
        wanted = TensorType(data.type.element, dims)
        updates = self.value(lambda each: each.type == wanted) or self.input(wanted.element, dims)
        if updates is None:
            return
        bounds = value_bounds.union(None, data.bounds, updates.bounds)
        if op == "ADD":
            element, count = data.type.element, self.count(index.type.shape) + 1
            bounds = value_bounds.reduce("SUM", element, element, bounds, count)
        given = {"axis": axis, "op": op.lower()}
        self.apply("SCATTER", [data, index, updates], {"axis": axis, "op": op}, given, bounds)

    def topk(self):
        value = self.value(lambda each: each.type.rank and each.type.element != "i1" and each.bounds.exact)
        if value is None:
            return
        axis, extent = self.axis_of(value)
        given = {"k": self.integer(0, extent), "axis": axis, "largest": self.pick(True, False)}
        self.apply("TOPK", [value], dict(given), given, value.bounds, Bounds(0, max(extent - 1, 0), whole=True))


OPS = (
    *("reshape", "permute", "expand", "pad", "shrink", "flip", "view", "pool"),
    *("unary",) * 4,
    *("binary",) * 5,
    *("where", "cast", "cast", "reduce", "reduce", "reduce"),
    *("const", "iota", "rand", "gather", "scatter", "topk", "input"),
)
UNARY = {
    "float": ("EXP2", "LOG2", "SQRT", "RSQRT", "RECIP", "SIN", "ERF", "TANH", "FLOOR", "NEG", "RELU"),
    "integer": ("NEG", "RELU", "NOT"),
    "bool": ("NOT",),
}
BINARY = {
    "float": ("ADD", "SUB", "MUL", "MUL", "FDIV", "MAX", "MIN", "CMP_LT", "CMP_EQ"),
    "integer": ("ADD", "SUB", "MUL", "IDIV", "MOD", "MAX", "MIN", "AND", "OR", "XOR", "CMP_LT", "CMP_EQ"),
    "bool": ("MAX", "MIN", "AND", "OR", "XOR", "CMP_LT", "CMP_EQ"),
}


def kind_of(element):
    return "float" if is_float(element) else "bool" if element == "i1" else "integer"


def checked_small(element):
    return Bounds(max(-8, integer_range(element)[0]), 8, whole=True)


def fits(lhs, rhs):
    """Say whether the importer makes the two types one: equal but for size-1 axes, or a 16-bit float beside f32."""
    same = lhs.element == rhs.element or {lhs.element, rhs.element} in ({"f16", "f32"}, {"bf16", "f32"})
    return (
        same and lhs.rank == rhs.rank and all(a == b or 1 in (a, b) for a, b in zip(lhs.shape, rhs.shape, strict=False))
    )


def written(dims):
    """Return a shape as JSON has it."""
    return [dim if isinstance(dim, int) else str(dim) for dim in dims]
