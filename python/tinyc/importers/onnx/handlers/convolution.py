"""Convolutions, and the fold of windows."""

from tinyc.importers.onnx.handlers.windows import automatic, halves, numbers, pads_of, reach_of
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor


def _conv(node: OnnxNode) -> Tensor:
    x, w = node.tensor(0), node.tensor(1)
    kernel, strides, dilations = _windows(node, x, w)
    return node.add(
        "conv",
        x,
        w,
        node.optional(2),
        strides=strides,
        dilations=dilations,
        pads=pads_of(node, x.shape[2:], reach_of(kernel, dilations), strides),
        groups=node.attribute("group", 1),
    )


def _conv_transpose(node: OnnxNode) -> Tensor:
    x, w = node.tensor(0), node.tensor(1)
    kernel, strides, dilations = _windows(node, x, w)
    spatial = len(kernel)
    behind = node.attribute("output_padding", (0,) * spatial)
    reach = reach_of(kernel, dilations)
    auto, pads = automatic(node), node.attribute("pads", (0,) * (2 * spatial))
    wanted = node.attribute("output_shape")
    if wanted is not None:
        extents = numbers(node, x.shape[2:], "output_shape")
        sizes = zip(extents, strides, behind, reach, wanted[-spatial:], strict=True)
        pads = halves([s * (n - 1) + b + r - size for n, s, b, r, size in sizes], auto != "SAME_UPPER")
    elif auto in ("SAME_UPPER", "SAME_LOWER"):  # the result is the image times the strides
        pads = halves([b + r - s for b, r, s in zip(behind, reach, strides, strict=True)], auto != "SAME_UPPER")
    elif auto == "VALID":
        pads = (0,) * (2 * spatial)
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


def _col2im(node: OnnxNode) -> Tensor:
    return node.add(
        "fold",
        node.tensor(0),
        shape=node.ints(1),
        kernel=node.ints(2),
        strides=node.attribute("strides"),
        dilations=node.attribute("dilations"),
        pads=node.attribute("pads"),
    )


def _windows(node: OnnxNode, x: Tensor, w: Tensor) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Kernel, strides and dilations, a number for each spatial axis."""
    kernel = numbers(node, w.shape[2:], "the kernel")
    stated = node.attribute("kernel_shape", kernel)
    if stated != kernel:
        raise node.unsupported(f"kernel_shape {list(stated)} is not that of the weights, {list(kernel)}")
    ones = (1,) * (x.rank - 2)
    return kernel, node.attribute("strides", ones), node.attribute("dilations", ones)


HANDLERS: dict[str, Handler] = {"Col2Im": _col2im, "Conv": _conv, "ConvTranspose": _conv_transpose}
