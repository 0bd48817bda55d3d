"""What reads or writes where its data says."""

import numpy as np

from tinyc.importers.onnx.handlers.slicing import sliced
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Known, Tensor


def _gather(node: OnnxNode) -> Tensor:
    data, index = node.tensor(0), node.input(1)
    axis = node.attribute("axis", 0) % data.rank
    if isinstance(index, Known) and (part := _known_part(data, axis, index)) is not None:
        taken = sliced(node, data, {axis: part})
        shape = (*taken.shape[:axis], *index.shape, *taken.shape[axis + 1 :])
        return taken if index.rank else node.add("movement reshape", taken, shape=shape)
    return node.add("gather axis", data, node.as_tensor(index), axis=axis)


def _known_part(data: Tensor, axis: int, index: Known) -> tuple[int, int, int] | None:
    """The slice that takes these elements, None where they are not one: indices that are not evenly spaced."""
    extent = data.shape[axis]
    if index.is_symbolic or index.rank > 1 or index.array.size == 0 or not isinstance(extent, int):
        return None
    places = index.array.reshape(-1).astype(np.int64)
    places = np.where(places < 0, places + extent, places)
    if places.min() < 0 or places.max() >= extent:
        return None  # the error is that of the gather
    step = int(places[1] - places[0]) if places.size > 1 else 1
    if step == 0 or (np.diff(places) != step).any():
        return None
    return int(places.min()), int(places.max()) + 1, step


def _gather_elements(node: OnnxNode) -> Tensor:
    return node.add("gather elements", node.tensor(0), node.tensor(1), axis=node.attribute("axis", 0))


def _gather_nd(node: OnnxNode) -> Tensor:
    return node.add("gather nd", node.tensor(0), node.tensor(1), batch=node.attribute("batch_dims", 0))


def _scatter_elements(node: OnnxNode) -> Tensor:
    operands = [node.tensor(at) for at in range(3)]
    axis, reduction = node.attribute("axis", 0), node.attribute("reduction", "none")
    return node.add("scatter elements", *operands, axis=axis, reduction=reduction)


def _scatter_nd(node: OnnxNode) -> Tensor:
    operands = [node.tensor(at) for at in range(3)]
    return node.add("scatter nd", *operands, reduction=node.attribute("reduction", "none"))


def _tensor_scatter(node: OnnxNode) -> Tensor:
    axis, mode = node.attribute("axis", -2), node.attribute("mode", "linear")
    return node.add("tensor_scatter", node.tensor(0), node.tensor(1), node.optional(2), axis=axis, mode=mode)


def _topk(node: OnnxNode) -> tuple[Tensor, ...]:
    """Sorted, whether `sorted` asks for it or not."""
    (k,) = node.ints(1, count=1)
    node.attribute("sorted", 1)
    axis, largest = node.attribute("axis", -1), bool(node.attribute("largest", 1))
    return node.add_all("topk", node.tensor(0), k=k, axis=axis, largest=largest)


def _arg(op: str) -> Handler:
    def handler(node: OnnxNode) -> Tensor:
        keepdims, last = (bool(node.attribute(*each)) for each in (("keepdims", 1), ("select_last_index", 0)))
        return node.add(op, node.tensor(0), axis=node.attribute("axis", 0), keepdims=keepdims, last=last)

    return handler


def _one_hot(node: OnnxNode) -> Tensor:
    index, (depth,), axis = node.tensor(0), node.dims(1, count=1), node.attribute("axis", -1)
    at = axis % (index.rank + 1)
    shape = (*index.shape[:at], depth, *index.shape[at:])
    return node.add("one_hot", index, node.tensor(2), shape=shape, axis=at)


def _reverse_sequence(node: OnnxNode) -> Tensor:
    axes = {"batch_axis": node.attribute("batch_axis", 1), "time_axis": node.attribute("time_axis", 0)}
    return node.add("reverse_sequence", node.tensor(0), node.tensor(1), **axes)


HANDLERS: dict[str, Handler] = {
    "ArgMax": _arg("arg_max"),
    "ArgMin": _arg("arg_min"),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "ReverseSequence": _reverse_sequence,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "TopK": _topk,
}
