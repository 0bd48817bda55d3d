"""Random numbers: by the seed of a node, or else by a stream of its own for each node of the model."""

import struct
from typing import Any

from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Known, OnnxValue, Tensor

_FLOAT = 1  # ONNX's number of f32


def _numbers(node: OnnxNode) -> dict[str, int]:
    """Which random numbers a node draws: a float is a seed by its bits."""
    seed = node.attribute("seed")
    if seed is None:
        return {"seed": 0, "stream": node.program.next_stream()}
    return {"seed": seed if isinstance(seed, int) else struct.unpack("<I", struct.pack("<f", seed))[0]}


def _random(distribution: str, names: dict[str, tuple[str, float]], like: bool) -> Handler:
    """Numbers of a distribution; `names` has ONNX's attributes, what the op calls them, and their defaults."""

    def handler(node: OnnxNode) -> Tensor:
        facts: dict[str, Any] = {ours: node.attribute(theirs, default) for theirs, (ours, default) in names.items()}
        shape = node.input(0).shape if like else node.required("shape")
        number = node.attribute("dtype", None if like else _FLOAT)
        element = node.input(0).element if number is None else element_of_onnx(number)
        if not element.is_float:
            raise node.unsupported(f"random numbers of type {element.json_name}; dtype says which float they are")
        return node.add(f"random {distribution}", shape=tuple(shape), element=element, **facts, **_numbers(node))

    return handler


def _bernoulli(node: OnnxNode) -> Tensor:
    p = node.tensor(0)
    number = node.attribute("dtype")
    element = p.element if number is None else element_of_onnx(number)
    return node.add("random bernoulli", p, element=element, **_numbers(node))


def _multinomial(node: OnnxNode) -> Tensor:
    element = element_of_onnx(node.attribute("dtype", 6))
    samples = node.attribute("sample_size", 1)
    return node.add("multinomial", node.tensor(0), samples=samples, element=element, **_numbers(node))


def _dropout(node: OnnxNode) -> tuple[OnnxValue, ...]:
    """Elements are dropped in training only; before opset 12 ONNX knew no training."""
    node.attribute("ratio")  # of opset 10, for a training elsewhere
    training = node.input(2) if node.has(2) and node.version >= 12 else None
    drops = training is not None and not (isinstance(training, Known) and not training.array.any())
    if not drops:
        node.attribute("seed")
        (_, kept) = node.add_all("dropout", node.tensor(0))
        return node.input(0), kept
    return node.add_all("dropout", node.tensor(0), node.optional(1), node.tensor(2), **_numbers(node))


_UNIFORM = {"low": ("low", 0.0), "high": ("high", 1.0)}
_NORMAL = {"mean": ("mean", 0.0), "scale": ("scale", 1.0)}

HANDLERS: dict[str, Handler] = {
    "Bernoulli": _bernoulli,
    "Dropout": _dropout,
    "Multinomial": _multinomial,
    "RandomNormal": _random("normal", _NORMAL, like=False),
    "RandomNormalLike": _random("normal", _NORMAL, like=True),
    "RandomUniform": _random("uniform", _UNIFORM, like=False),
    "RandomUniformLike": _random("uniform", _UNIFORM, like=True),
}
