"""Recurrent layers."""

from typing import Any

from tinyc.formulas.recurrent_activations import ACTIVATIONS, DEFAULTS
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor

#: ONNX's names of activations in lower case (case does not matter), and ours.
_NAMES = {name.replace("_", ""): name for name in ACTIVATIONS}
#: The activations that take the number.
_TAKES = {
    "alpha": {"affine", "elu", "hard_sigmoid", "leaky_relu", "scaled_tanh", "thresholded_relu"},
    "beta": {"affine", "hard_sigmoid", "scaled_tanh"},
}


def _layer(op: str, activations: tuple[str, ...], states: tuple[int, ...]) -> Handler:
    """A recurrent layer with these activations by default; `states` are the inputs that are initial states."""

    def handler(node: OnnxNode) -> tuple[Tensor, ...]:
        attributes = _attributes(node, activations)
        if op == "gru":
            attributes["linear_before_reset"] = bool(node.attribute("linear_before_reset", 0))
        if op == "lstm":
            attributes["input_forget"] = bool(node.attribute("input_forget", 0))
        by_batch = bool(node.attribute("layout", 0))
        operands = [node.optional(at) for at in range(8 if op == "lstm" else 6)]
        if by_batch:
            for at in (0, *states):
                operands[at] = _exchanged(node, operands[at])
        _check_hidden_size(node, operands[2])
        y, *last = node.add_all(op, *operands, **attributes)
        if not by_batch:
            return y, *last
        return node.add("movement permute", y, perm=(2, 0, 1, 3)), *(
            node.add("movement permute", each, perm=(1, 0, 2)) for each in last
        )

    return handler


def _attributes(node: OnnxNode, activations: tuple[str, ...]) -> dict[str, Any]:
    direction = node.attribute("direction", "forward")
    given = node.attribute("activations") or activations * (2 if direction == "bidirectional" else 1)
    names = [_NAMES.get(name.lower()) for name in given]
    if None in names:
        raise node.unsupported(f"activation {given[names.index(None)]!r} is not known to it")
    alpha, beta = (_numbers(node, names, name, at) for at, name in enumerate(("alpha", "beta")))
    clip = node.attribute("clip")
    return {"direction": direction, "activations": tuple(names), "alpha": alpha, "beta": beta, "clip": clip}


def _numbers(node: OnnxNode, names: list[str | None], name: str, at: int) -> tuple[float, ...]:
    """A number for each activation: those that are given go, in their order, to the activations that take one."""
    given = iter(node.attribute(f"activation_{name}", ()))
    defaults = [DEFAULTS.get(each or "", (0.0, 0.0))[at] for each in names]
    return tuple(
        next(given, default) if each in _TAKES[name] else default for each, default in zip(names, defaults, strict=True)
    )


def _exchanged(node: OnnxNode, x: Tensor | None) -> Tensor | None:
    return None if x is None else node.add("movement permute", x, perm=(1, 0, 2))


def _check_hidden_size(node: OnnxNode, r: Tensor | None) -> None:
    size = node.attribute("hidden_size")
    if size is not None and r is not None and r.shape[-1:] != (size,):
        raise node.unsupported(f"hidden_size = {size} is not the last extent of the recurrent weights, {r.type}")


HANDLERS: dict[str, Handler] = {
    "GRU": _layer("gru", ("Sigmoid", "Tanh"), (5,)),
    "LSTM": _layer("lstm", ("Sigmoid", "Tanh", "Tanh"), (5, 6)),
    "RNN": _layer("rnn", ("Tanh",), (5,)),
}
