"""ONNX models that the benches and the tests share, built by their sizes, with random weights.

In reading order:

    builder        a graph under construction
    convolutional  ResNets, a MobileNet, a U-Net
    transformers   a ViT, BERT, GPT-2 with and without its cache
    catalogue      all of them by name, at the sizes of the benches and at small ones
"""

from .builder import GraphBuilder
from .catalogue import MODELS, ModelCase

__all__ = ["MODELS", "GraphBuilder", "ModelCase"]
