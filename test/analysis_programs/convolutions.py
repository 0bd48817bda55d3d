"""Convolutions of 3 × 3 as programs, by what Winograd's algorithm is asked about."""

from analysis_programs.cpu_kernels import typed
from analysis_programs.tiny_programs import Program


def convolution(
    x: str = "f32 1 8 9 10",
    filters: int = 12,
    pads: tuple[int, int, int, int] = (1, 1, 1, 1),
    kernel: int = 3,
    stride: int = 1,
    dilation: int = 1,
    value: float = 0.0,
) -> tuple[Program, object]:
    """A program with the sums of windows of `x`, images by channels, by weights `w`, and these; it has no result yet.

    `pads` are rows above and below, and columns before and behind.
    """
    element, images, channels, *_ = x.split()
    p = Program(x=x, w=f"{element} {filters} {channels} {kernel} {kernel}", bias=f"f32 {filters}")
    above, below, before, behind = pads
    image = p["x"]
    if any(pads):
        image = p.pad(image, lo=(0, 0, above, before), hi=(0, 0, below, behind), value=value)
    windows = p.pool(image, kernel=(kernel,) * 2, stride=(stride,) * 2, dilation=(dilation,) * 2)
    rows, columns = typed(windows).shape[2:4]
    shape = f"{images} {filters} {rows} {columns} {channels} {kernel} {kernel}"
    moved = p.permute(windows, perm=(0, 2, 3, 1, 4, 5))
    products = p.mul(
        p.expand(moved, shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6)),
        p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 4, 5, 6)),
    )
    return p, p.sum(products, 4, 5, 6, element="f64" if element == "f64" else "f32", name="sums")


def biased(p: Program, sums: object) -> object:
    """A bias for each filter, and a ReLU, behind sums."""
    shape = typed(sums).shape
    return p.relu(p.add(sums, p.expand(p["bias"], shape=shape, broadcast_dimensions=(1,))))
