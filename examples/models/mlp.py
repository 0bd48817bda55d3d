"""An MLP as an ONNX model, with a dynamic batch: `python mlp.py` writes mlp.onnx and runs it at three sizes."""

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
    return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), name)


model = helper.make_model(
    helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w1", "b1"], ["hidden"]),
            helper.make_node("Relu", ["hidden"], ["active"]),
            helper.make_node("Gemm", ["active", "w2", "b2"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["y"]),
        ],
        "mlp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10])],
        [weight("w1", 64, 128), weight("b1", 128), weight("w2", 128, 10), weight("b2", 10)],
    ),
    opset_imports=[helper.make_opsetid("", 20)],
    ir_version=9,
)
onnx.save(model, "mlp.onnx")
compiled = tinyc.compile("mlp.onnx")
for batch in (1, 7, 150):
    y = compiled(np.ones((batch, 64), np.float32))
    print(y.shape, "sums of rows:", np.round(y.sum(1), 4).min(), "to", np.round(y.sum(1), 4).max())
