"""An ONNX graph under construction: a method for each op that the models need, names of values in and out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
Extent = int | str


class GraphBuilder:
    """The nodes so far; weights are drawn from a generator of the model's own."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name, self.random = name, np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.shapes: dict[str, tuple[Extent, ...]] = {}
        self._constants: dict[tuple[Any, ...], str] = {}

    # --- the boundary -------------------------------------------------------------------------------------------------

    def input(self, name: str, shape: Sequence[Extent], element: int = TensorProto.FLOAT) -> str:
        """Add an input; an extent that is a text is a dynamic axis."""
        self.inputs.append(helper.make_tensor_value_info(name, element, list(shape)))
        return name

    def weight(self, shape: Sequence[int], scale: float | None = None) -> str:
        """Add a weight: normal numbers whose products keep the scale of their operand."""
        fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        drawn = self.random.standard_normal(shape) * (1 / np.sqrt(max(fan_in, 1)) if scale is None else scale)
        return self.tensor(drawn.astype(np.float32), f"w{len(self.weights)}")

    def tensor(self, array: np.ndarray, name: str) -> str:
        """Add an initialiser."""
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *values: int) -> str:
        """A vector of integers, which is there once."""
        key = ("ints", *values)
        if key not in self._constants:
            self._constants[key] = self.tensor(np.array(values, np.int64), f"ints_{len(self._constants)}")
        return self._constants[key]

    def number(self, value: float) -> str:
        """A number of f32, which is there once."""
        key = ("number", value)
        if key not in self._constants:
            self._constants[key] = self.tensor(np.array(value, np.float32), f"number_{len(self._constants)}")
        return self._constants[key]

    def model(self, outputs: Mapping[str, Sequence[Extent]]) -> onnx.ModelProto:
        """The finished model."""
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in outputs.items()]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        onnx.checker.check_model(model)
        return model

    # --- ops ----------------------------------------------------------------------------------------------------------

    def op(self, op_type: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node of one output and return its name."""
        return self.ops(op_type, *inputs, outputs=[output or f"{op_type.lower()}_{len(self.nodes)}"], **attributes)[0]

    def ops(self, op_type: str, *inputs: str, outputs: Sequence[str], **attributes: Any) -> Sequence[str]:
        """Add a node of several outputs."""
        name = f"{self.name}/{op_type}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), list(outputs), name=name, **attributes))
        return outputs

    def linear(self, x: str, inner: int, outer: int) -> str:
        """A product with a weight, and a bias."""
        return self.op("Add", self.op("MatMul", x, self.weight((inner, outer))), self.weight((outer,), 0.02))

    def conv(self, x: str, inner: int, outer: int, kernel: int, stride: int = 1, groups: int = 1) -> str:
        """A convolution with a bias, padded so that stride 1 keeps the size."""
        weight, pad = self.weight((outer, inner // groups, kernel, kernel)), kernel // 2
        sizes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        return self.op("Conv", x, weight, self.weight((outer,), 0.02), **sizes)

    def batch_norm(self, x: str, channels: int) -> str:
        """A batch normalisation by running statistics."""
        scale, shift, mean = (self.weight((channels,), each) for each in (0.1, 0.1, 0.1))
        ones = self.tensor(np.ones(channels, np.float32), f"ones{len(self.weights)}")
        variance = self.tensor(np.abs(self.random.standard_normal(channels)).astype(np.float32) + 0.5, f"v{mean}")
        return self.op("BatchNormalization", x, self.op("Add", scale, ones), shift, mean, variance)

    def layer_norm(self, x: str, width: int) -> str:
        """A layer normalisation of the last axis."""
        gamma = self.tensor(np.ones(width, np.float32), f"gamma{len(self.weights)}")
        return self.op("LayerNormalization", x, gamma, self.weight((width,), 0.02), axis=-1, epsilon=1e-5)

    def reshape(self, x: str, *shape: int) -> str:
        """A reshape; 0 keeps an extent, -1 is what is left."""
        return self.op("Reshape", x, self.ints(*shape))
