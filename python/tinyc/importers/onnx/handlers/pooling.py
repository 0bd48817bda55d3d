"""Pooling."""

from typing import Any

from tinyc.importers.onnx.handlers.windows import automatic, pads_of, reach_of
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor


def _sizes(node: OnnxNode) -> dict[str, Any]:
    """Kernel, strides, dilations and pads; `auto_pad` as the pads that it stands for."""
    kernel = tuple(node.required("kernel_shape"))
    ones = (1,) * len(kernel)
    stride, dilation = tuple(node.attribute("strides", ones)), tuple(node.attribute("dilations", ones))
    spatial = node.input(0).shape[2:]
    ceil_mode = bool(node.attribute("ceil_mode", 0)) and not automatic(node).startswith("SAME")
    return {
        "kernel": kernel,
        "stride": stride,
        "dilation": dilation,
        "pads": pads_of(node, spatial, reach_of(kernel, dilation), stride),
        "ceil_mode": ceil_mode,
    }


def _max_pool(node: OnnxNode) -> Tensor | tuple[Tensor, ...]:
    sizes, column_major = _sizes(node), bool(node.attribute("storage_order", 0))
    if any(node.outputs[1:]):
        return node.add_all("max_pool_indices", node.tensor(0), column_major=column_major, **sizes)
    return node.add("pool max", node.tensor(0), **sizes)


def _average_pool(node: OnnxNode) -> Tensor:
    counted = bool(node.attribute("count_include_pad", 0))
    return node.add("pool average", node.tensor(0), count_include_pad=counted, **_sizes(node))


def _lp_pool(node: OnnxNode) -> Tensor:
    return node.add("pool lp", node.tensor(0), p=node.attribute("p", 2), **_sizes(node))


def _global(reduction: str) -> Handler:
    def handler(node: OnnxNode) -> Tensor:
        x = node.tensor(0)
        norm = {"p": node.attribute("p", 2)} if reduction == "lp" else {}
        return node.add(f"reduce {reduction}", x, axes=tuple(range(2, x.rank)), keepdims=True, **norm)

    return handler


def _max_unpool(node: OnnxNode) -> Tensor:
    """The indices count in the shape that follows from kernel, strides and pads; a larger one is filled with zeros."""
    x, kernel = node.tensor(0), tuple(node.required("kernel_shape"))
    stride = node.attribute("strides", (1,) * len(kernel))
    pads = node.attribute("pads", (0,) * (2 * len(kernel)))
    sizes = zip(x.shape[2:], kernel, stride, pads[: len(kernel)], pads[len(kernel) :], strict=True)
    spatial = [(extent - 1) * step + size - before - after for extent, size, step, before, after in sizes]
    padded = node.dims(2) if node.has(2) else None
    return node.add("max_unpool", x, node.tensor(1), shape=(*x.shape[:2], *spatial), padded=padded)


HANDLERS: dict[str, Handler] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global("mean"),
    "GlobalLpPool": _global("lp"),
    "GlobalMaxPool": _global("max"),
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
