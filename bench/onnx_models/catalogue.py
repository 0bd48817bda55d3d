"""The models by name: at the sizes of the benches, and small enough for tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx

from . import convolutional, transformers


@dataclass(frozen=True)
class ModelCase:
    """A model: what builds it, its sizes for the bench, for the tests, and for the bench with one layer more."""

    name: str
    build: Callable[..., onnx.ModelProto]
    large: Mapping[str, Any]
    small: Mapping[str, Any]
    bind: Mapping[str, int] = field(default_factory=dict)
    deeper: Mapping[str, Any] = field(default_factory=dict)


_BASIC, _BOTTLENECK = {"bottleneck": False}, {"bottleneck": True}
_NARROW = {"layers": 1, "width": 24, "heads": 3, "words": 50}
_FIVE = {"layers": 5}  # one more than by default

MODELS = {
    each.name: each
    for each in (
        ModelCase(
            "resnet18",
            convolutional.resnet,
            {"depths": (2, 2, 2, 2), **_BASIC},
            {"depths": (1, 1), "size": 19, "width": 4, "classes": 7, **_BASIC},
            deeper={"depths": (2, 2, 3, 2), **_BASIC},
        ),
        ModelCase(
            "resnet50",
            convolutional.resnet,
            {"depths": (3, 4, 6, 3), **_BOTTLENECK},
            {"depths": (1, 1), "size": 19, "width": 4, "classes": 7, **_BOTTLENECK},
            deeper={"depths": (3, 4, 7, 3), **_BOTTLENECK},
        ),
        ModelCase("mobilenet", convolutional.mobilenet, {}, {"size": 33, "classes": 7}),
        ModelCase(
            "vit_tiny", transformers.vit, {}, {"size": 8, "patch": 4, "layers": 1, "width": 24}, deeper={"layers": 13}
        ),
        ModelCase("bert", transformers.bert, {}, {"rows": 7, **_NARROW}, deeper=_FIVE),
        ModelCase("gpt2", transformers.gpt2, {}, {"rows": 7, **_NARROW}, deeper=_FIVE),
        ModelCase(
            "gpt2_decoder",
            transformers.gpt2_decoder,
            {},
            {"past": 5, **_NARROW},
            bind={"past": 127},
            deeper=_FIVE,
        ),
        ModelCase("unet", convolutional.unet, {}, {"size": 12, "width": 4, "levels": 2}),
    )
}
