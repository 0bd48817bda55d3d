"""Windows and spectra. Lengths and sizes have to be known at import: shapes depend on them."""

import math

import numpy as np

from tinyc.expr.extents import bind_option
from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Known, Tensor
from tinyc.vocabulary.element_type import ElementType

#: More filters are no filters: their edges are computed at import.
_MAX_FILTERS = 2**16
_FLOAT = 1  # ONNX's number of f32


def _window(*coefficients: float) -> Handler:
    def handler(node: OnnxNode) -> Tensor:
        facts = {
            "shape": node.dims(0),
            "element": element_of_onnx(node.attribute("output_datatype", _FLOAT)),
            "periodic": bool(node.attribute("periodic", 1)),
        }
        return node.add("cosine_window", coefficients=coefficients, **facts)

    return handler


def _mel_weights(node: OnnxNode) -> Tensor:
    """Filters that are equally wide in mel; their edges are numbers of frequencies."""
    (filters,), (length,), (rate,) = (node.ints(at, count=1) for at in range(3))
    if not 0 < filters <= _MAX_FILTERS or rate < 1:
        raise node.unsupported(f"{filters} filters of a rate of {rate}; 1 … {_MAX_FILTERS} of a positive one are known")
    low, high = (2595 * math.log10(1 + each / 700) for at in (3, 4) for each in node.floats(at, count=1))
    mels = low + np.arange(filters + 2) * ((high - low) / (filters + 2))
    edges = np.floor((length + 1) * (700 * (10 ** (mels / 2595) - 1)) / rate).astype(np.int64)
    element = element_of_onnx(node.attribute("output_datatype", _FLOAT))
    held = node.as_tensor(Known(edges, ElementType.I64))
    return node.add("triangular_filters", held, bins=length // 2 + 1, element=element)


def _dft(node: OnnxNode) -> Tensor:
    """The axis is an attribute before opset 20, an input from there on."""
    (given,) = node.ints(2, count=1) if node.has(2) else (-2,)
    axis = node.attribute("axis", 1) if node.version < 20 else given
    inverse, onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    (length,) = node.ints(1, count=1) if node.has(1) else (None,)
    return node.add("dft", node.tensor(0), axis=axis, length=length, inverse=inverse, onesided=onesided)


def _stft(node: OnnxNode) -> Tensor:
    window = node.optional(2)
    (length,) = node.ints(3, count=1) if node.has(3) else window.shape[:1] if window is not None else (None,)
    if not isinstance(length, int):
        message = "frame_length must be a number when the model is imported, or that of the window"
        raise node.unsupported(message if length is None else f"{message}; bind it: {bind_option(length)}")
    onesided = bool(node.attribute("onesided", 1))
    (step,) = node.ints(1, count=1)
    return node.add("stft", node.tensor(0), window, frame_step=step, frame_length=length, onesided=onesided)


HANDLERS: dict[str, Handler] = {
    "BlackmanWindow": _window(0.42, 0.5, 0.08),
    "DFT": _dft,
    "HammingWindow": _window(25 / 46, 21 / 46),
    "HannWindow": _window(0.5, 0.5),
    "MelWeightMatrix": _mel_weights,
    "STFT": _stft,
}
