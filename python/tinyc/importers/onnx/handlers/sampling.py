"""Grids, and regions of interest."""

from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor


def _affine_grid(node: OnnxNode) -> Tensor:
    """`size` is that of `[batch, channels, spatial…]`."""
    size = node.dims(1)[2:]
    return node.add("affine_grid", node.tensor(0), size=size, align_corners=bool(node.attribute("align_corners", 0)))


def _grid_sample(node: OnnxNode) -> Tensor:
    """The modes have been called linear and cubic since opset 20."""
    mode = node.attribute("mode", "linear")
    return node.add(
        "grid_sample",
        node.tensor(0),
        node.tensor(1),
        mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode),
        padding=node.attribute("padding_mode", "zeros"),
        align_corners=bool(node.attribute("align_corners", 0)),
    )


def _roi_align(node: OnnxNode) -> Tensor:
    """Coordinates are those of pixels' corners before opset 16."""
    samples = node.attribute("sampling_ratio", 0)
    if samples < 1:
        raise node.unsupported("sampling_ratio = 0 makes the number of samples depend on data; give a positive one")
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    return node.add(
        "roi_align",
        *(node.tensor(at) for at in range(3)),
        size=(node.attribute("output_height", 1), node.attribute("output_width", 1)),
        samples=samples,
        mode=node.attribute("mode", "avg"),
        scale=node.attribute("spatial_scale", 1.0),
        half_pixel=node.attribute("coordinate_transformation_mode", default) == "half_pixel",
    )


HANDLERS: dict[str, Handler] = {
    "AffineGrid": _affine_grid,
    "GridSample": _grid_sample,
    "RoiAlign": _roi_align,
}
