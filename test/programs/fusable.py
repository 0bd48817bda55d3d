"""Random programs: what makes fusion matter, as several nodes at a time."""

from programs import value_bounds
from programs.contractions import Contractions
from programs.value_bounds import Bounds
from tinyc.vocabulary.types import TensorType


class Fusable(Contractions):
    """Adds what reads a value in several ways: reduced and broadcast again, added up, looked up, shifted by a row."""

    def normalise(self):
        """Reduce some axes of a value, repeat the result along them, and put both together."""
        value = self.floats(1)
        if value is None:
            return
        rank, element = value.type.rank, value.type.element
        axes = [axis for axis in range(rank) if axis == rank - 1 or self.pick(False, True)]
        kept = [axis for axis in range(rank) if axis not in axes]
        reduced = self.reduced(value, axes, self.pick("SUM", "MAX", "MIN"))
        if reduced is None:
            return
        if self.pick(False, True):
            reduced = self.scaled(reduced) or reduced
        spread = self.over(reduced, value.type.shape, kept)
        if spread is not None:
            self.together(self.pick("ADD", "SUB", "MUL", "MAX"), element, value, spread)

    def shift(self):
        """Add an input, which is broadcast along all axes but one, to a value."""
        value = self.floats(1)
        if value is None:
            return
        axis = self.integer(0, value.type.rank - 1)
        row = self.input(value.type.element, (value.type.shape[axis],))
        spread = row and self.over(row, value.type.shape, [axis])
        if spread is not None:
            self.together(self.pick("ADD", "MUL"), value.type.element, value, spread)

    def cumulate(self):
        """Add up a value along its last axis, from its beginning to each element or from each element to its end."""
        value = self.floats(1)
        extent = value.type.shape[-1] if value else None
        if not isinstance(extent, int) or extent < 1:
            return
        rank, ends = value.type.rank, (extent - 1, 0) if self.pick(True, True, False) else (0, extent - 1)
        lo, hi = ((*(0,) * (rank - 1), end) for end in ends)
        arg, given = {"pad": [list(pair) for pair in zip(lo, hi, strict=True)]}, {"lo": lo, "hi": hi, "value": 0}
        bounds = value_bounds.union(None, value.bounds, Bounds(0, 0, whole=True))
        padded = self.apply("PAD", [value], arg, given, bounds)
        if padded is None:
            return
        window = {"kernel": (extent,), "stride": (1,), "dilation": (1,)}
        windows = self.apply("POOL", [padded], {"kernel": [extent]}, window, bounds)
        if windows is not None:
            self.reduced(windows, [rank], "SUM")

    def look_up(self):
        """Take the slices of a value at indices along its first axis, and put both together."""
        value = self.value(lambda each: each.type.rank)
        extent = self.shape(value.type.shape)[0] if value else 0
        if not extent:
            return
        index = self.input("i64", value.type.shape[:1], Bounds(0, extent - 1, whole=True))
        if index is not None and self.pick(False, True):
            index = self.node("MAX", [index, 0], {}, [index.type], index.bounds)
        found = index and self.apply("GATHER", [value, index], {"axis": 0}, {"axis": 0}, value.bounds)
        if found is not None and not value.type.element.is_bool:
            self.together("MAX", value.type.element, value, found)

    # --- steps --------------------------------------------------------------------------------------------------------

    def floats(self, rank):
        """Draw a value of floats with that many axes at least."""
        return self.value(lambda each: each.type.element.is_float and each.type.rank >= rank)

    def reduced(self, value, axes, op):
        element = value.type.element
        terms = value.bounds
        if op == "SUM" and value.factors:
            terms = value_bounds.product(element, element, *value.factors)
            if terms is None:
                return None
        arg = {"op": op, "axes": axes, "dtype": element.json_name}
        count = self.count(value.type.shape[axis] for axis in axes)
        given = {"op": op.lower(), "axes": tuple(axes), "element": element}
        bounds = value_bounds.reduce(op, element, element, terms, count)
        return self.apply("REDUCE", [value], arg, given, bounds)

    def scaled(self, value):
        """Multiply a value with a number."""
        number = self.pick(0.25, 0.5)
        factor = Bounds(number, number)
        bounds = value_bounds.binary("MUL", value.type.element, value.bounds, factor)
        return self.node("MUL", [value, number], {}, [value.type], bounds, factors=(value.bounds, factor))

    def together(self, uop, element, *values):
        bounds = value_bounds.binary(uop, element, *(each.bounds for each in values))
        factors = tuple(each.bounds for each in values) if uop == "MUL" else None
        self.node(uop, list(values), {}, [TensorType(element, values[0].type.shape)], bounds, factors=factors)
