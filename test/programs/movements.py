"""Random programs: the movement ops."""

from hypothesis import strategies as st

from programs import value_bounds
from programs.growth import Growth, written
from programs.value_bounds import Bounds
from tinyc.expr import index_map


class Movements(Growth):
    """Adds a movement of a value that was drawn."""

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
        value = self.value(lambda each: each.type.is_static)
        if value is None:
            return
        dims = [self.pick(1, 2, 3) for _ in range(self.integer(0, 3))]
        if 0 in value.type.shape:
            dims.append(0)
        expressions = [self.index_expression(extent, dims) for extent in value.type.shape]
        arg = {"result_shape": written(dims), "index_map": {"map": expressions}}
        indices = tuple(index_map.parse_row(text, len(dims)) for text in expressions)
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
