"""Programs that memory bounds: norms, softmax, activations, sums, casts, each a function of its shape and element type.

What is computed in 16 bits is computed in f32: operands are cast on the way in, results on the way out.
"""

from analysis_programs.tiny_programs import Program

LOG2E = 1.4426950408889634


class _Rows(Program):
    """A program over rows: `x` of `shape`, of `element` in memory and f32 otherwise."""

    def __init__(self, shape, element, **others):
        super().__init__(x=f"{element} {shape}", **others)
        self.shape, self.element = shape, element

    def wide(self, name="x"):
        """Return an input in f32."""
        return self[name] if self.element == "f32" else self.cast(self[name], element="f32")

    def done(self, *values):
        """Return f32 values from the function in the element type."""
        narrow = [each if self.element == "f32" else self.cast(each, element=self.element) for each in values]
        return self.result(*narrow)

    def spread(self, value, *axes):
        """Broadcast a value that has `axes` of the shape."""
        return self.expand(value, shape=self.shape, broadcast_dimensions=axes)

    def number(self, value):
        """Return a constant of the shape."""
        return self.spread(self.const(shape="", element="f32", value=float(value)))

    def reduce_rows(self, op, value, axis=1):
        """Reduce a value along an axis, and broadcast the result."""
        found = self.op("reduce", value, op=op, axes=(axis,), element="f32")
        return self.spread(found, *(each for each in range(len(self.shape.split())) if each != axis))


def softmax(shape, element="f32", axis=1):
    p = _Rows(shape, element)
    x = p.wide()
    e = p.exp2(p.mul(p.sub(x, p.reduce_rows("max", x, axis)), p.number(LOG2E)))
    return p.done(p.mul(e, p.recip(p.reduce_rows("sum", e, axis))))


def layer_norm(shape, element="f32"):
    n = shape.split()[-1]
    p = _Rows(shape, element, g=f"{element} {n}", b=f"{element} {n}")
    x, mean = p.wide(), 1.0 / int(n)
    centred = p.sub(x, p.mul(p.reduce_rows("sum", x), p.number(mean)))
    variance = p.mul(p.reduce_rows("sum", p.mul(centred, centred)), p.number(mean))
    scaled = p.mul(centred, p.rsqrt(p.add(variance, p.number(1e-5))))
    return p.done(p.add(p.mul(scaled, p.spread(p.wide("g"), 1)), p.spread(p.wide("b"), 1)))


def rms_norm(shape, element="f32", weights=None):
    """RMS norm with weights of another element type, if that is given."""
    n = shape.split()[-1]
    p = _Rows(shape, element, g=f"{weights or element} {n}")
    x, g = p.wide(), p.cast(p["g"], element="f32") if (weights or element) != "f32" else p["g"]
    mean = p.mul(p.reduce_rows("sum", p.mul(x, x)), p.number(1.0 / int(n)))
    return p.done(p.mul(p.mul(x, p.rsqrt(p.add(mean, p.number(1e-5)))), p.spread(g, 1)))


def weighted_columns(shape, element="f32"):
    """The softmax of columns whose elements have weights."""
    p = _Rows(shape, element, g=f"{element} {shape.split()[0]}")
    e = p.exp2(p.mul(p.wide(), p.spread(p.wide("g"), 0)))
    return p.done(p.mul(e, p.recip(p.reduce_rows("sum", e, 0))))


def total(shape, element="f32", axes=(1,), op="sum"):
    p = _Rows(shape, element)
    return p.result(p.op("reduce", p["x"], op=op, axes=axes, element=element))


def statistics(shape, element="f32", axes=(0, 1)):
    """The mean, and the largest magnitude, of what is reduced."""
    sizes = [int(size) for size in shape.split()]
    p = _Rows(shape, element)
    x = p.wide()
    rest = " ".join(str(size) for axis, size in enumerate(sizes) if axis not in axes)
    part = p.expand(p.const(shape="", element="f32", value=0.125), shape=rest, broadcast_dimensions=())
    mean = p.mul(p.op("reduce", x, op="sum", axes=axes, element="f32"), part)
    return p.done(mean, p.op("reduce", p.mul(x, x), op="max", axes=axes, element="f32"))


def dot(n, element="f16"):
    p = Program(x=f"{element} {n}", y=f"{element} {n}")
    return p.result(p.op("reduce", p.mul(p["x"], p["y"]), op="sum", axes=(0,), element="f32"))


def gelu(shape, element="f32"):
    p = _Rows(shape, element)
    x = p.wide()
    half = p.mul(x, p.number(0.5))
    return p.done(p.mul(half, p.add(p.erf(p.mul(x, p.number(0.7071067811865476))), p.number(1.0))))


def swiglu(shape, element="f32"):
    p = _Rows(shape, element, u=f"{element} {shape}")
    x = p.wide()
    sigmoid = p.recip(p.add(p.exp2(p.mul(x, p.number(-LOG2E))), p.number(1.0)))
    return p.done(p.mul(p.mul(x, sigmoid), p.wide("u")))


def bias_residual(shape, element="f32"):
    p = _Rows(shape, element, r=f"{element} {shape}", b=f"{element} {shape.split()[-1]}")
    return p.done(p.add(p.add(p.wide(), p.spread(p.wide("b"), 1)), p.wide("r")))


def cast(shape, source, target):
    p = Program(x=f"{source} {shape}")
    return p.result(p.cast(p["x"], element=target))


def transpose(shape, element="f32", perm=(1, 0)):
    p = Program(x=f"{element} {shape}")
    return p.result(p.permute(p["x"], perm=perm))


def symmetric(n, element="f32"):
    p = Program(x=f"{element} {n} {n}")
    return p.result(p.add(p["x"], p.permute(p["x"], perm=(1, 0))))


def both_ways(shape, element="f32"):
    """Two results, one of them transposed, of an operand and of one that lies across."""
    p = Program(x=f"{element} {shape}", z=f"{element} {' '.join(reversed(shape.split()))}")
    y = p.mul(p["x"], p.permute(p["z"], perm=(1, 0)))
    return p.result(p.permute(y, perm=(1, 0)), p.neg(y))


def cumulative(shape, element="f32", axis=-1, op="sum", reverse=False, exclusive=False, around=False):
    """A running reduction along an axis, as Tiny spells it, with element-wise ops before and behind it where asked."""
    sizes = [int(each) for each in shape.split()]
    axis, rank, length = axis % len(sizes), len(sizes), sizes[axis]
    p = _Rows(shape, element)
    x = p.exp2(p.wide()) if around else p.wide()
    neutral = {"sum": 0.0, "max": float("-inf")}[op]
    one = int(exclusive)
    lo, hi = (0, length - 1 + one) if reverse else (length - 1 + one, 0)
    padded = p.pad(x, lo=_at(axis, rank, lo), hi=_at(axis, rank, hi), value=neutral)
    if exclusive:
        first = _at(axis, rank, 1 if reverse else 0)
        last = tuple(size + (2 * length - 1 if k == axis else 0) - size * (k == axis) for k, size in enumerate(sizes))
        last = tuple(end + at for end, at in zip(last, first, strict=True))
        padded = p.shrink(padded, lo=first, hi=last, step=(1,) * rank)
    others = [k for k in range(rank) if k != axis]
    moved = p.permute(padded, perm=(*others, axis))
    windows = p.pool(moved, kernel=(length,), stride=(1,), dilation=(1,))
    found = p.op("reduce", windows, op=op, axes=(rank,), element="f32")
    back = [0] * rank
    for place, k in enumerate((*others, axis)):
        back[k] = place
    y = p.permute(found, perm=tuple(back))
    return p.done(p.neg(y), p.mul(y, x)) if around else p.done(y)


def _at(axis, rank, value):
    return tuple(value if k == axis else 0 for k in range(rank))


def embedding(rows, width, tokens, element="f16"):
    """Rows of a table by their numbers, and an addition behind it."""
    p = Program(x=f"{element} {rows} {width}", i=f"i64 {tokens}", b=f"{element} {width}")
    found = p.gather(p["x"], p["i"], axis=0)
    bias = p.expand(p["b"], shape=f"{tokens} {width}", broadcast_dimensions=(1,))
    return p.result(p.add(found, bias))


def padded_rows(shape, element="f16"):
    """A border of rows around a matrix, and what is computed of it."""
    p = Program(x=f"{element} {shape}")
    return p.result(p.neg(p.pad(p["x"], lo=(1, 0), hi=(1, 0), value=1.0)))


#: Programs of rows that begin where an access of 16 bytes may, and of others, by what they are called.
ALIGNED = {
    "softmax of 16 bits": lambda: softmax("24 1024", "f16"),
    "softmax": lambda: softmax("12 1000"),
    "softmax of columns": lambda: softmax("40 96", "bf16", axis=0),
    "long softmax": lambda: softmax("2 6144", "f16"),
    "layer norm of 16 bits": lambda: layer_norm("64 768", "bf16"),
    "layer norm": lambda: layer_norm("64 512"),
    "RMS norm of 16 bits": lambda: rms_norm("64 1024", "f16"),
    "RMS norm": lambda: rms_norm("64 256"),
    "RMS norm of 16 bits with weights of 32": lambda: rms_norm("64 1024", "f16", "f32"),
    "RMS norm of 32 bits with weights of 16": lambda: rms_norm("64 512", "f32", "f16"),
    "weighted softmax of columns": lambda: weighted_columns("40 96", "bf16"),
    "GELU of 16 bits": lambda: gelu("16 512", "f16"),
    "GELU": lambda: gelu("16 500"),
    "SwiGLU gate of 16 bits": lambda: swiglu("16 1000", "bf16"),
    "SwiGLU gate": lambda: swiglu("16 512"),
    "bias and residual of 16 bits": lambda: bias_residual("40 1000", "bf16"),
    "bias and residual": lambda: bias_residual("40 512"),
    "cast to 16 bits": lambda: cast("16 512", "f32", "f16"),
    "cast from 16 bits": lambda: cast("16 512", "bf16", "f32"),
    "transpose of 16 bits": lambda: transpose("128 192", "f16"),
    "transpose": lambda: transpose("96 64"),
    "batched transpose": lambda: transpose("3 64 32", perm=(0, 2, 1)),
    "row sum of 16 bits": lambda: total("24 1024", "f16"),
    "row sum": lambda: total("24 1000"),
    "column sum of 16 bits": lambda: total("500 128", "f16", axes=(0,)),
    "column sum": lambda: total("500 64", axes=(0,)),
    "full sum of 16 bits": lambda: total("64 512", "bf16", axes=(0, 1)),
    "full sum": lambda: total("64 500", axes=(0, 1)),
    "cumulative sum of 16 bits": lambda: cumulative("6 1024", "f16"),
    "cumulative sum": lambda: cumulative("6 600"),
    "border of rows": lambda: padded_rows("30 64"),
    "cumulative sum of columns": lambda: cumulative("40 64", axis=0),
}

UNALIGNED = {
    "softmax of odd rows": lambda: softmax("9 1001", "f16"),
    "softmax of a vocabulary": lambda: softmax("2 50257", "f16"),
    "softmax of rows of 7": lambda: softmax("64 7"),
    "RMS norm of odd rows": lambda: rms_norm("16 1001", "bf16"),
    "RMS norm of odd rows with wider weights": lambda: rms_norm("16 1001", "f16", "f32"),
    "RMS norm of rows of which a part is aligned": lambda: rms_norm("16 514", "f16"),
    "RMS norm of short odd rows": lambda: rms_norm("40 77", "bf16"),
    "layer norm of odd rows that have a CTA each": lambda: layer_norm("6 1029"),
    "weighted softmax of odd columns": lambda: weighted_columns("40 77", "f16"),
    "bias and residual of odd rows": lambda: bias_residual("9 999", "bf16"),
    "bias and residual of short odd rows": lambda: bias_residual("40 77", "bf16"),
    "GELU of odd rows": lambda: gelu("7 999", "f16"),
    "transpose of odd sides": lambda: transpose("99 101"),
    "row sum of odd rows": lambda: total("20 1027"),
    "row sum of short rows": lambda: total("256 7", "f16"),
    "column sum of odd rows": lambda: total("300 257", axes=(0,)),
    "border of odd rows": lambda: padded_rows("30 77", "f32"),
    "cumulative sum of odd rows": lambda: cumulative("5 1001", "f16"),
    "cumulative sum of short odd rows": lambda: cumulative("40 77", "f16"),
    "softmax of short odd rows": lambda: softmax("40 77", "f16"),
    "softmax of odd columns": lambda: softmax("40 77", "f16", axis=0),
    "column sum of odd rows of 16 bits": lambda: total("300 257", "f16", axes=(0,)),
    "column sum of bytes": lambda: total("77 301", "i8", axes=(0,)),
    "sum of odd columns of a batch": lambda: total("3 40 77", "f16", axes=(1,)),
    "transpose of odd sides of 16 bits": lambda: transpose("99 101", "f16"),
    "results both ways of odd sides": lambda: both_ways("75 93", "f16"),
}
#: The accesses of a warp to a shared row at whose end lanes go on at its beginning: there it may be in two passes.
ROW_ENDS = {"bias and residual of 16 bits": 40, "bias and residual of short odd rows": 40 * 8}
