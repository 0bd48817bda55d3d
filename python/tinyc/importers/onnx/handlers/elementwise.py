"""Functions of each element, comparisons, casts."""

from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, Node
from tinyc.importers.onnx.values import Tensor, Value


def _function(fn: str) -> Handler:
    """The element-wise function of that name, of one operand or two."""

    def handler(node: Node) -> Tensor:
        return node.add(f"elementwise {fn}", *(node.tensor(each) for each in range(len(node.inputs))))

    return handler


def _div(node: Node) -> Tensor:
    x = node.tensor(0)
    return node.add("elementwise fdiv" if x.element.is_float else "elementwise idiv", x, node.tensor(1))


def _gelu(node: Node) -> Tensor:
    return node.add("elementwise gelu", node.tensor(0), approximate=node.attribute("approximate", "none"))


def _where(node: Node) -> Tensor:
    return node.add("where", node.tensor(0), node.tensor(1), node.tensor(2))


def _cast(node: Node) -> Tensor:
    return node.add("cast", node.tensor(0), element=element_of_onnx(node.required("to")))


def _identity(node: Node) -> Value:
    return node.input(0)


HANDLERS: dict[str, Handler] = {
    "Add": _function("add"),
    "And": _function("and"),
    "Cast": _cast,
    "Div": _div,
    "Equal": _function("cmp_eq"),
    "Erf": _function("erf"),
    "Exp": _function("exp"),
    "Floor": _function("floor"),
    "Gelu": _gelu,
    "Identity": _identity,
    "Less": _function("cmp_lt"),
    "Log": _function("log"),
    "Mul": _function("mul"),
    "Neg": _function("neg"),
    "Not": _function("not"),
    "Or": _function("or"),
    "Reciprocal": _function("recip"),
    "Relu": _function("relu"),
    "Sigmoid": _function("sigmoid"),
    "Sin": _function("sin"),
    "Sqrt": _function("sqrt"),
    "Sub": _function("sub"),
    "Tanh": _function("tanh"),
    "Where": _where,
    "Xor": _function("xor"),
}
