"""Matrix products."""

from tinyc.importers.onnx.node import Handler, Node
from tinyc.importers.onnx.values import Tensor


def _matmul(node: Node) -> Tensor:
    return node.add("matmul", node.tensor(0), node.tensor(1))


def _gemm(node: Node) -> Tensor:
    a, b = (_transposed(node, node.tensor(at), name) for at, name in enumerate(("transA", "transB")))
    product = _scaled(node, node.add("matmul", a, b), node.attribute("alpha", 1.0))
    beta = node.attribute("beta", 1.0)
    if not node.has(2):
        return product
    return node.add("elementwise add", product, _scaled(node, node.tensor(2), beta))


def _transposed(node: Node, x: Tensor, name: str) -> Tensor:
    return node.add("movement permute", x, perm=(1, 0)) if node.attribute(name, 0) else x


def _scaled(node: Node, x: Tensor, scale: float) -> Tensor:
    return x if scale == 1 else node.add("elementwise mul", x, node.full(scale, x.element))


HANDLERS: dict[str, Handler] = {"Gemm": _gemm, "MatMul": _matmul}
