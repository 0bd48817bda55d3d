"""Layer, rms, group, instance and batch norms."""

from tinyc.expr.extents import bind_option
from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor
from tinyc.vocabulary.element_type import ElementType


def _epsilon(node: OnnxNode) -> float:
    return node.attribute("epsilon", 1e-5)


def _stash(node: OnnxNode) -> ElementType:
    """The type in which the statistics are given. They are computed in f32 at least, whatever it is."""
    return element_of_onnx(node.attribute("stash_type", 1))


def _layer_norm(node: OnnxNode) -> tuple[Tensor, ...]:
    attributes = {"axis": node.attribute("axis", -1), "epsilon": _epsilon(node), "stash": _stash(node)}
    return node.add_all("layer_norm", node.tensor(0), node.tensor(1), node.optional(2), **attributes)


def _rms_norm(node: OnnxNode) -> Tensor:
    _stash(node)
    attributes = {"axis": node.attribute("axis", -1), "epsilon": _epsilon(node)}
    return node.add("rms_norm", node.tensor(0), node.tensor(1), **attributes)


def _group_norm(node: OnnxNode) -> Tensor:
    """Scale and bias are one for each channel since opset 21, and were one for each group before."""
    _stash(node)
    x, groups = node.tensor(0), node.required("num_groups")
    scale, bias = (node.tensor(at) if node.version >= 21 else _per_channel(node, at, groups) for at in (1, 2))
    return node.add("group_norm", x, scale, bias, groups=groups, epsilon=_epsilon(node))


def _per_channel(node: OnnxNode, position: int, groups: int) -> Tensor:
    """A vector of numbers for groups as one for their channels."""
    channels, given = node.input(0).shape[1], node.tensor(position)
    if not isinstance(channels, int):
        message = f"the number of channels is {channels}; before opset 21 it must be known at import: "
        raise node.unsupported(message + bind_option(channels))
    column = node.add("movement reshape", given, shape=(groups, 1))
    repeated = node.add("movement expand", column, shape=(groups, channels // groups))
    return node.add("movement reshape", repeated, shape=(channels // groups * groups,))


def _instance_norm(node: OnnxNode) -> Tensor:
    return node.add("instance_norm", *(node.tensor(at) for at in range(3)), epsilon=_epsilon(node))


def _batch_norm(node: OnnxNode) -> Tensor | tuple[Tensor, ...]:
    operands = [node.tensor(at) for at in range(5)]
    momentum = node.attribute("momentum", 0.9)
    if node.attribute("training_mode", 0):
        return node.add_all("batch_norm_training", *operands, epsilon=_epsilon(node), momentum=momentum)
    return node.add("batch_norm", *operands, epsilon=_epsilon(node))


def _lp_norm(node: OnnxNode) -> Tensor:
    return node.add("lp_norm", node.tensor(0), axis=node.attribute("axis", -1), p=node.attribute("p", 2))


def _mean_variance_norm(node: OnnxNode) -> Tensor:
    return node.add("mean_variance_norm", node.tensor(0), axes=node.attribute("axes", (0, 2, 3)))


def _local_response_norm(node: OnnxNode) -> Tensor:
    factors = {"alpha": node.attribute("alpha", 1e-4), "beta": node.attribute("beta", 0.75)}
    size, bias = node.required("size"), node.attribute("bias", 1.0)
    return node.add("local_response_norm", node.tensor(0), size=size, bias=bias, **factors)


HANDLERS: dict[str, Handler] = {
    "BatchNormalization": _batch_norm,
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _instance_norm,
    "LRN": _local_response_norm,
    "LayerNormalization": _layer_norm,
    "LpNormalization": _lp_norm,
    "MeanVarianceNormalization": _mean_variance_norm,
    "RMSNormalization": _rms_norm,
}
