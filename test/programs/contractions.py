"""Random programs: sums of products, most of which are contractions (with windows where a pool came before)."""

from programs import value_bounds
from programs.growth import Growth
from tinyc.vocabulary.types import TensorType


class Contractions(Growth):
    """Adds products of a value with a new input, summed over some of the value's axes, and an epilogue."""

    def contraction(self):
        """Multiply a value with an input that shares the summed axes, and perhaps others, and has one of its own."""
        lhs = self.value(self.suits) if self.pick(False, True) else self.matrix()
        if lhs is None:
            return
        rank = lhs.type.rank
        summed = [axis for axis in range(rank) if axis == rank - 1 or self.pick(False, False, True)]
        batch = [axis for axis in range(rank) if axis not in summed and self.pick(False, False, False, True)]
        shared = sorted((*summed, *batch))
        joint = (*lhs.type.shape, self.pick(2, 3, 5, self.dim()))
        if self.count(joint) > 400:
            return
        rhs = self.input(lhs.type.element, (*(joint[axis] for axis in shared), joint[rank]))
        if rhs is not None:
            self.product(lhs, self.over(lhs, joint, range(rank)), self.over(rhs, joint, (*shared, rank)), rhs, summed)

    def suits(self, value):
        return 2 <= value.type.rank <= 4 and not value.type.element.is_bool and self.count(value.type.shape) > 2

    def matrix(self):
        element = self.pick("f16", "bf16", "f32", "f32", "f64", "i8", "i32")
        return self.input(element, (*self.pick((), (2,)), self.pick(2, 5, self.dim()), self.pick(1, 3, 7, self.dim())))

    def over(self, value, joint, axes):
        """Return `value` expanded to the joint axes."""
        arg = {"result_shape": [dim if isinstance(dim, int) else str(dim) for dim in joint]}
        arg["broadcast_dimensions"] = list(axes)
        given = {"shape": joint, "broadcast_dimensions": tuple(axes)}
        return self.apply("EXPAND", [value], arg, given, value.bounds)

    def product(self, lhs, left, right, rhs, summed):
        element, accumulator = lhs.type.element, self.accumulator(lhs.type.element)
        bounds = value_bounds.binary("MUL", element, lhs.bounds, rhs.bounds)
        terms = value_bounds.product(element, accumulator, lhs.bounds, rhs.bounds)
        if None in (left, right, bounds, terms):
            return
        joint = left.type.shape
        total = value_bounds.reduce("SUM", accumulator, accumulator, terms, self.count(joint[axis] for axis in summed))
        if total is None:
            return
        factors = (lhs.bounds, rhs.bounds)
        multiplied = self.node("MUL", [left, right], {}, [TensorType(element, joint)], bounds, factors=factors)
        if multiplied is not None:
            arg = {"op": "SUM", "axes": summed, "dtype": accumulator.json_name}
            given = {"op": "sum", "axes": tuple(summed), "element": accumulator}
            self.apply("REDUCE", [multiplied], arg, given, total)
            self.values.remove(multiplied)  # another reader would make the sum a plain reduction
