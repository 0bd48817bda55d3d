"""Random programs: element-wise ops, reductions, and the data-dependent ops."""

from hypothesis import strategies as st

from programs import value_bounds
from programs.growth import FLOATS, SYMBOLS, Growth, Value
from programs.value_bounds import Bounds
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise import ROWS
from tinyc.vocabulary.types import TensorType


def uops_of(arity, element):
    """Return the uops of that many operands that take a type; products are what contractions are made of."""
    found = [row.json_name for row in ROWS.values() if row.arity == arity and row.accepts.holds(element)]
    return [*found, "MUL"] if "MUL" in found and element.is_float else found


class Compute(Growth):
    """Adds a compute op on values that were drawn."""

    def unary(self):
        value = self.value()
        uops = uops_of(1, value.type.element)
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
            element = max(lhs.type.element, rhs.type.element, key=lambda e: e is ElementType.F32)
        uops = uops_of(2, element)
        found = {uop: value_bounds.binary(uop, element, lhs.bounds, bounds) for uop in uops}
        uop = self.pick(*(uop for uop in uops if found[uop]))
        result = TensorType(ElementType.BOOL if uop.startswith("CMP") else element, dims)
        self.node(uop, sources, {}, [result], found[uop], factors=(lhs.bounds, bounds) if uop == "MUL" else None)

    def partner(self, lhs):
        """Draw a second operand: a value that fits after the importer's repairs, a new input, or an immediate."""
        choice = self.pick("value", "value", "input", "immediate")
        if choice == "immediate":
            return self.number(lhs.type.element) if not lhs.type.element.is_bool else None
        if choice == "input":
            return self.input(lhs.type.element, lhs.type.shape)
        return self.value(lambda each: fits(lhs.type, each.type))

    def where(self):
        if_true = self.value()
        if_false = self.value(lambda each: each.type == if_true.type)
        condition = self.value(lambda each: each.type == TensorType(ElementType.BOOL, if_true.type.shape))
        condition = condition or self.input(ElementType.BOOL, if_true.type.shape)
        if condition is not None:
            bounds = value_bounds.union(None, if_true.bounds, if_false.bounds)
            self.apply("WHERE", [condition, if_true, if_false], {}, {}, bounds)

    def cast(self):
        value, target = self.value(), self.draw(st.sampled_from(list(ElementType)))
        bounds = value_bounds.cast(value.type.element, target, value.bounds)
        self.apply("CAST", [value], {"to": target.json_name}, {"element": target}, bounds)

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
        arg = {"op": op, "axes": [self.written_axis(value, axis) for axis in axes], "dtype": accumulator.json_name}
        if not accumulator.is_bool and self.pick(False, False, True):
            arg["init"] = init = self.number(accumulator)
            terms = value_bounds.union(None, terms, Bounds(init, init, whole=float(init).is_integer()))
            count += 1
        given = {"op": op.lower(), "axes": tuple(axes), "element": accumulator}
        self.apply("REDUCE", [value], arg, given, value_bounds.reduce(op, source, accumulator, terms, count))

    def accumulator(self, element):
        if element.is_float:
            return self.pick(*FLOATS, ElementType.F32, ElementType.F32)
        integers = ("i8", "i32", "i64", "ui8", "ui32")
        return ElementType(self.pick(*(("i1",) if element.is_bool else ()), *integers, "f32", "f64"))

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
        op = self.pick("SET", "ADD") if not data.type.element.is_bool else "SET"
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
        value = self.value(lambda each: each.type.rank and not each.type.element.is_bool and each.bounds.exact)
        if value is None:
            return
        axis, extent = self.axis_of(value)
        given = {"k": self.pick(extent, self.integer(0, extent)), "axis": axis, "largest": self.pick(True, False)}
        self.apply("TOPK", [value], dict(given), given, value.bounds, Bounds(0, max(extent - 1, 0), whole=True))


def fits(lhs, rhs):
    """Say whether the importer makes the two types one: equal but for size-1 axes, or a 16-bit float beside f32."""
    same = lhs.element == rhs.element or {lhs.element, rhs.element} in ({"f16", "f32"}, {"bf16", "f32"})
    return (
        same and lhs.rank == rhs.rank and all(a == b or 1 in (a, b) for a, b in zip(lhs.shape, rhs.shape, strict=False))
    )
