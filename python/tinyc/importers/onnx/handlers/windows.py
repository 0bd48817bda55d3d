"""Windows of convolutions and of pooling: the pads that attributes of a node state, or ask for."""

from collections.abc import Sequence

from tinyc.expr.extents import Dim, bind_option
from tinyc.importers.onnx.node import OnnxNode

#: The values of `auto_pad`; a window of SAME is at every place, or at every stride-th one.
AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def automatic(node: OnnxNode) -> str:
    """The attribute `auto_pad`."""
    found = node.attribute("auto_pad", "NOTSET")
    if found not in AUTO_PADS:
        raise node.unsupported(f"auto_pad is '{found}'; it is {', '.join(AUTO_PADS[:-1])} or {AUTO_PADS[-1]}")
    return found


def pads_of(node: OnnxNode, extents: Sequence[Dim], reach: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Pads before each axis, then after: as given, or so that there are `ceil(extent / stride)` places."""
    auto = automatic(node)
    given = tuple(node.attribute("pads", (0,) * (2 * len(reach))))
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        totals: list[int] = []
        for extent, window, stride in zip(extents, reach, strides, strict=True):
            if stride == 1:  # as many places as elements, however many these are
                totals.append(window - 1)
                continue
            (number,) = numbers(node, (extent,), f"auto_pad = '{auto}' with strides")
            totals.append(max((-(-number // stride) - 1) * stride + window - number, 0))
        return halves(totals, auto == "SAME_LOWER")
    return given if auto == "NOTSET" else (0,) * (2 * len(reach))


def halves(totals: Sequence[int], more_before: bool) -> tuple[int, ...]:
    """Pads that add up to totals, the odd element before or after; what is missing is missing behind."""
    small = [max(total, 0) // 2 for total in totals]
    rest = [total - each for total, each in zip(totals, small, strict=True)]
    before = [max(each, 0) for each in rest] if more_before else small
    return (*before, *(total - each for total, each in zip(totals, before, strict=True)))


def numbers(node: OnnxNode, dims: Sequence[Dim], what: str) -> tuple[int, ...]:
    """Extents that have to be numbers for what a node asks for."""
    found = tuple(each for each in dims if isinstance(each, int))
    if len(found) != len(dims):
        message = f"{what} needs extents that are numbers, not {', '.join(map(str, dims))}; bind them: "
        raise node.unsupported(message + bind_option(*dims))
    return found


def reach_of(kernel: Sequence[int], dilations: Sequence[int]) -> tuple[int, ...]:
    """How many elements a window spans along each axis."""
    return tuple((size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True))
