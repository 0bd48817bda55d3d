"""Programs for the tests of Poly Core."""

from analysis_programs.tiny_programs import Program


def softmax(shape="M N"):
    """Return a softmax over the last axis of two."""
    rows = shape.split()[0]
    p = Program(s=f"f32 {shape}")

    def broadcast(value):
        return p.expand(p.reshape(value, shape=f"{rows} 1"), shape=shape, broadcast_dimensions=(0, 1))

    most = p.op("reduce", p["s"], op="max", axes=(1,), element="f32", name="most")
    e = p.exp2(p.sub(p["s"], broadcast(most), name="d"), name="e")
    return p.result(p.mul(e, broadcast(p.recip(p.sum(e, 1, name="total"), name="r")), name="y"))


def convolution(p, x, w, channels, size, name):
    """Append a 3×3 convolution of `channels` to `channels` that keeps the size."""
    windows = p.pool(p.pad(x, lo=(0, 1, 1), hi=(0, 1, 1), value=0.0), kernel=(3, 3), stride=(1, 1), dilation=(1, 1))
    shape = f"{channels} {channels} {size} {size} 3 3"
    left = p.expand(windows, shape=shape, broadcast_dimensions=(1, 2, 3, 4, 5))
    right = p.expand(w, shape=shape, broadcast_dimensions=(0, 1, 4, 5))
    return p.sum(p.mul(left, right), 1, 4, 5, name=name)


def two_convolutions():
    p = Program(x="f32 4 56 56", w="f32 4 4 3 3", v="f32 4 4 3 3")
    first = convolution(p, p["x"], p["w"], 4, 56, "first")
    silu = p.mul(
        first, p.recip(p.add(p.exp2(p.neg(first, name="n"), name="e"), first, name="a"), name="r"), name="silu"
    )
    return p.result(convolution(p, silu, p["v"], 4, 56, "second"))


def scan():
    p = Program(x="f32 4 64")
    padded = p.pad(p.relu(p["x"], name="x1"), lo=(0, 63), hi=(0, 0), value=0.0)
    windows = p.pool(padded, kernel=(64,), stride=(1,), dilation=(1,))
    return p.result(p.neg(p.sum(windows, 2, name="running"), name="y"))


def group_mean():
    """Return the difference of channels from the mean of their group of 4."""
    p = Program(x="f32 8 24")
    mean = p.sum(p.reshape(p["x"], shape="8 6 4"), 2, name="mean")
    wide = p.expand(p.reshape(mean, shape="8 6 1"), shape="8 6 4", broadcast_dimensions=(0, 1, 2))
    return p.result(p.sub(p["x"], p.reshape(wide, shape="8 24"), name="y"))


def relus(length):
    """Return a chain of element-wise blocks."""
    p = Program(x="f32 M N")
    value = p["x"]
    for _ in range(length):
        value = p.relu(value)
    return p.result(value)
