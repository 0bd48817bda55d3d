"""The models by name: at the sizes of the benches, and small enough for tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx

from . import convolutional, transformers


@dataclass(frozen=True)
class ModelCase:
    """A model: what builds it, its sizes at the bench's and at the test's; `layers` are those at the bench's."""

    name: str
    build: Callable[..., onnx.ModelProto]
    large: Mapping[str, Any]
    small: Mapping[str, Any]
    bind: Mapping[str, int] = field(default_factory=dict)
    layers: int = 0


_BASIC, _BOTTLENECK = {"bottleneck": False}, {"bottleneck": True}
_NARROW = {"layers": 1, "width": 24, "heads": 3, "words": 50}

MODELS = {
    each.name: each
    for each in (
        ModelCase(
            "resnet18",
            convolutional.resnet,
            {"depths": (2, 2, 2, 2), **_BASIC},
            {"depths": (1, 1), "size": 19, "width": 4, "classes": 7, **_BASIC},
            layers=8,
        ),
        ModelCase(
            "resnet50",
            convolutional.resnet,
            {"depths": (3, 4, 6, 3), **_BOTTLENECK},
            {"depths": (1, 1), "size": 19, "width": 4, "classes": 7, **_BOTTLENECK},
            layers=16,
        ),
        ModelCase("mobilenet", convolutional.mobilenet, {}, {"size": 33, "classes": 7}),
        ModelCase("vit_tiny", transformers.vit, {}, {"size": 8, "patch": 4, "layers": 1, "width": 24}, layers=12),
        ModelCase("bert", transformers.bert, {}, {"rows": 7, **_NARROW}, layers=4),
        ModelCase("gpt2", transformers.gpt2, {}, {"rows": 7, **_NARROW}, layers=4),
        ModelCase("gpt2_decoder", transformers.gpt2_decoder, {}, {"past": 5, **_NARROW}, bind={"past": 127}, layers=4),
        ModelCase("unet", convolutional.unet, {}, {"size": 12, "width": 4, "levels": 2}),
    )
}
