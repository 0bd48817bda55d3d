"""Matrix products, and sums of products by an equation."""

from tinyc.formulas.products import EinsumEquation, parse_einsum
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor


def _matmul(node: OnnxNode) -> Tensor:
    return node.add("matmul", node.tensor(0), node.tensor(1))


def _gemm(node: OnnxNode) -> Tensor:
    return node.add(
        "gemm",
        node.tensor(0),
        node.tensor(1),
        node.optional(2),
        alpha=node.attribute("alpha", 1.0),
        beta=node.attribute("beta", 1.0),
        trans_a=bool(node.attribute("transA", 0)),
        trans_b=bool(node.attribute("transB", 0)),
    )


def _einsum(node: OnnxNode) -> Tensor:
    """Two operands at a time, from the left: what is between has the labels that something still needs."""
    operands = [node.tensor(each) for each in range(len(node.inputs))]
    parsed = parse_einsum(node.required("equation"), len(operands))
    result, labels = operands[0], parsed.terms[0]
    if len(operands) == 1:
        return node.add("einsum", result, equation=str(parsed))
    for at, operand in enumerate(operands[1:], 1):
        needed = {*parsed.result, *(label for each in parsed.terms[at + 1 :] for label in each)}
        joint = dict.fromkeys((*labels, *parsed.terms[at]))
        between = tuple(each for each in joint if each in needed) if at + 1 < len(operands) else parsed.result
        equation = EinsumEquation((labels, parsed.terms[at]), between)
        result, labels = node.add("einsum", result, operand, equation=str(equation)), between
    return result


HANDLERS: dict[str, Handler] = {"Einsum": _einsum, "Gemm": _gemm, "MatMul": _matmul}
