"""A small CNN as an ONNX model: `python cnn.py` writes cnn.onnx, runs it, and says what its regions are."""

import numpy as np

import tinyc

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    raise SystemExit(
        f"models are written by the package onnx ({error}); tools/setup onnx, or pip install onnx"
    ) from None

random = np.random.default_rng(0)


def weight(name: str, *shape: int) -> onnx.TensorProto:
    """A weight whose products keep the scale of their operand."""
    fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
    return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32), name)


model = helper.make_model(
    helper.make_graph(
        [
            helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c1"], ["r1"]),
            helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c2"], ["r2"]),
            helper.make_node("GlobalAveragePool", ["r2"], ["g"]),
            helper.make_node("Flatten", ["g"], ["f"]),
            helper.make_node("Gemm", ["f", "w3"], ["scores"], transB=1),
        ],
        "cnn",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 28, 28])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])],
        [
            weight("w1", 16, 3, 3, 3),
            weight("b1", 16),
            weight("w2", 32, 16, 3, 3),
            weight("b2", 32),
            weight("w3", 10, 32),
        ],
    ),
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
onnx.save(model, "cnn.onnx")
compiled = tinyc.compile("cnn.onnx")
print(compiled)
print(compiled(np.ones((2, 3, 28, 28), np.float32)).shape)
