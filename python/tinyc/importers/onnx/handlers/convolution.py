"""Convolutions, and the fold of windows."""

from collections.abc import Sequence

from tinyc.expr.extents import Dim
from tinyc.importers.onnx.node import Handler, Node
from tinyc.importers.onnx.values import Tensor


def _conv(node: Node) -> Tensor:
    x, w = node.tensor(0), node.tensor(1)
    kernel, strides, dilations = _windows(node, x, w)
    return node.add(
        "conv",
        x,
        w,
        node.optional(2),
        strides=strides,
        dilations=dilations,
        pads=_pads(node, x.shape[2:], [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)], strides),
        groups=node.attribute("group", 1),
    )


def _conv_transpose(node: Node) -> Tensor:
    x, w = node.tensor(0), node.tensor(1)
    kernel, strides, dilations = _windows(node, x, w)
    spatial = len(kernel)
    behind = node.attribute("output_padding", (0,) * spatial)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    auto, pads = node.attribute("auto_pad", "NOTSET"), node.attribute("pads", (0,) * (2 * spatial))
    wanted = node.attribute("output_shape")
    if wanted is not None:
        numbers = _numbers(node, x.shape[2:], "output_shape")
        sizes = zip(numbers, strides, behind, reach, wanted[-spatial:], strict=True)
        pads = _halves([s * (n - 1) + b + r - size for n, s, b, r, size in sizes], auto != "SAME_UPPER")
    elif auto in ("SAME_UPPER", "SAME_LOWER"):  # the result is the image times the strides
        pads = _halves([b + r - s for b, r, s in zip(behind, reach, strides, strict=True)], auto != "SAME_UPPER")
    elif auto == "VALID":
        pads = (0,) * (2 * spatial)
    elif auto != "NOTSET":
        raise node.unsupported(f"auto_pad is '{auto}'; it is NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    return node.add(
        "conv_transpose",
        x,
        w,
        node.optional(2),
        strides=strides,
        dilations=dilations,
        pads=pads,
        output_padding=behind,
        groups=node.attribute("group", 1),
    )


def _col2im(node: Node) -> Tensor:
    return node.add(
        "fold",
        node.tensor(0),
        shape=node.ints(1),
        kernel=node.ints(2),
        strides=node.attribute("strides"),
        dilations=node.attribute("dilations"),
        pads=node.attribute("pads"),
    )


def _windows(node: Node, x: Tensor, w: Tensor) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Kernel, strides and dilations, a number for each spatial axis."""
    kernel = _numbers(node, w.shape[2:], "the kernel")
    stated = node.attribute("kernel_shape", kernel)
    if stated != kernel:
        raise node.unsupported(f"kernel_shape {list(stated)} is not that of the weights, {list(kernel)}")
    ones = (1,) * (x.rank - 2)
    return kernel, node.attribute("strides", ones), node.attribute("dilations", ones)


def _pads(node: Node, extents: Sequence[Dim], reach: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Pads before each axis, then after: as given, or so that there are `ceil(extent / stride)` places."""
    auto = node.attribute("auto_pad", "NOTSET")
    given = node.attribute("pads", (0,) * (2 * len(reach)))
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        totals: list[int] = []
        for extent, window, stride in zip(extents, reach, strides, strict=True):
            if stride == 1:  # as many places as elements, however many these are
                totals.append(window - 1)
                continue
            (number,) = _numbers(node, (extent,), f"auto_pad = '{auto}' with strides")
            totals.append(max((-(-number // stride) - 1) * stride + window - number, 0))
        return _halves(totals, auto == "SAME_LOWER")
    if auto not in ("NOTSET", "VALID"):
        raise node.unsupported(f"auto_pad is '{auto}'; it is NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    return given if auto == "NOTSET" else (0,) * (2 * len(reach))


def _halves(totals: Sequence[int], more_before: bool) -> tuple[int, ...]:
    """Pads that add up to totals, the odd element before or after; what is missing is missing behind."""
    small = [max(total, 0) // 2 for total in totals]
    rest = [total - each for total, each in zip(totals, small, strict=True)]
    before = [max(each, 0) for each in rest] if more_before else small
    return (*before, *(total - each for total, each in zip(totals, before, strict=True)))


def _numbers(node: Node, dims: Sequence[Dim], what: str) -> tuple[int, ...]:
    numbers = tuple(each for each in dims if isinstance(each, int))
    if len(numbers) != len(dims):
        raise node.unsupported(f"{what} needs extents that are numbers, not {', '.join(map(str, dims))}; bind them")
    return numbers


HANDLERS: dict[str, Handler] = {"Col2Im": _col2im, "Conv": _conv, "ConvTranspose": _conv_transpose}
