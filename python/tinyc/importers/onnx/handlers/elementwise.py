"""Functions of each element, comparisons, casts."""

from collections.abc import Sequence

from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Known, OnnxValue, Tensor
from tinyc.vocabulary.element_type import ElementType


def _function(fn: str, **attributes: float | str) -> Handler:
    """The element-wise function of that name, of one operand or two; ONNX's attributes with their defaults."""

    def handler(node: OnnxNode) -> Tensor:
        given = {name: node.attribute(name, default) for name, default in attributes.items()}
        return node.add(f"elementwise {fn}", *(node.tensor(each) for each in range(len(node.inputs))), **given)

    return handler


def _swapped(fn: str) -> Handler:
    """The function of the operands in the other order: `x > y` is `y < x`."""

    def handler(node: OnnxNode) -> Tensor:
        return node.add(f"elementwise {fn}", node.tensor(1), node.tensor(0))

    return handler


def _chain(fn: str) -> Handler:
    """The function of all operands, one after another."""

    def handler(node: OnnxNode) -> Tensor:
        return _chained(node, fn, [node.tensor(each) for each in range(len(node.inputs))])

    return handler


def _chained(node: OnnxNode, fn: str, operands: Sequence[Tensor]) -> Tensor:
    result = operands[0]
    for each in operands[1:]:
        result = node.add(f"elementwise {fn}", result, each)
    return result


def _sum(node: OnnxNode) -> Tensor:
    """16-bit floats are added up in f32."""
    operands = [node.tensor(each) for each in range(len(node.inputs))]
    element = operands[0].element
    if len(operands) < 3:
        return _chained(node, "add", operands)
    return _to(node, _chained(node, "add", [_to(node, each, element.accumulator) for each in operands]), element)


def _mean(node: OnnxNode) -> Tensor:
    operands = [node.tensor(each) for each in range(len(node.inputs))]
    element = operands[0].element
    total = _chained(node, "add", [_to(node, each, element.accumulator) for each in operands])
    mean = node.add("elementwise fdiv", total, node.full(len(operands), total.element))
    return _to(node, mean, element)


def _to(node: OnnxNode, x: Tensor, element: ElementType) -> Tensor:
    return x if x.element is element else node.add("cast", x, element=element)


def _div(node: OnnxNode) -> Tensor:
    x = node.tensor(0)
    return node.add("elementwise fdiv" if x.element.is_float else "elementwise idiv", x, node.tensor(1))


def _mod(node: OnnxNode) -> Tensor:
    """The remainder with the sign of the dividend (`fmod`), or of the divisor."""
    fn = "fmod" if node.attribute("fmod", 0) else "modulo"
    return node.add(f"elementwise {fn}", node.tensor(0), node.tensor(1))


def _bit_shift(node: OnnxNode) -> Tensor:
    direction = node.required("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise node.unsupported(f"direction = {direction!r}; it is 'LEFT' or 'RIGHT'")
    return node.add(f"elementwise shift_{direction.lower()}", node.tensor(0), node.tensor(1))


def _pow(node: OnnxNode) -> Tensor:
    """An exponent that is one known number becomes an attribute: no logarithm is needed for a square."""
    x, exponent = node.tensor(0), node.input(1)
    if isinstance(exponent, Known) and not exponent.is_symbolic and exponent.array.size == 1:
        number = exponent.array.item()
        if exponent.rank <= x.rank and abs(number) < 2**24:
            return node.add("elementwise power", x, exponent=float(number))
    return node.add("elementwise pow", x, node.as_tensor(exponent))


def _clip(node: OnnxNode) -> Tensor:
    """Where the least is above the greatest, the greatest."""
    x = node.tensor(0)
    for position, fn in ((1, "max"), (2, "min")):
        bound = node.optional(position)
        x = x if bound is None else node.add(f"elementwise {fn}", x, bound)
    return x


def _is_inf(node: OnnxNode) -> Tensor:
    sides = {name: bool(node.attribute(name, 1)) for name in ("detect_negative", "detect_positive")}
    return node.add("elementwise is_inf", node.tensor(0), **sides)


def _where(node: OnnxNode) -> Tensor:
    return node.add("where", node.tensor(0), node.tensor(1), node.tensor(2))


def _cast(node: OnnxNode) -> Tensor:
    _narrow_only(node)
    return node.add("cast", node.tensor(0), element=element_of_onnx(node.required("to")))


def _cast_like(node: OnnxNode) -> Tensor:
    _narrow_only(node)
    return node.add("cast", node.tensor(0), element=node.input(1).element)


def _narrow_only(node: OnnxNode) -> None:
    """Attributes that are about floats of 8 bits, which are no type of tinyc."""
    for name in ("saturate", "round_mode"):
        node.attribute(name)


def _bitcast(node: OnnxNode) -> Tensor:
    return node.add("bitcast", node.tensor(0), element=element_of_onnx(node.required("to")))


def _identity(node: OnnxNode) -> OnnxValue:
    return node.input(0)


HANDLERS: dict[str, Handler] = {
    "Abs": _function("abs"),
    "Acos": _function("acos"),
    "Acosh": _function("acosh"),
    "Add": _function("add"),
    "And": _function("and"),
    "Asin": _function("asin"),
    "Asinh": _function("asinh"),
    "Atan": _function("atan"),
    "Atanh": _function("atanh"),
    "BitCast": _bitcast,
    "BitShift": _bit_shift,
    "BitwiseAnd": _function("and"),
    "BitwiseNot": _function("not"),
    "BitwiseOr": _function("or"),
    "BitwiseXor": _function("xor"),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Ceil": _function("ceil"),
    "Celu": _function("celu", alpha=1.0),
    "Clip": _clip,
    "Cos": _function("cos"),
    "Cosh": _function("cosh"),
    "Div": _div,
    "Elu": _function("elu", alpha=1.0),
    "Equal": _function("cmp_eq"),
    "Erf": _function("erf"),
    "Exp": _function("exp"),
    "Floor": _function("floor"),
    "Gelu": _function("gelu", approximate="none"),
    "Greater": _swapped("cmp_lt"),
    "GreaterOrEqual": _swapped("cmp_le"),
    "HardSigmoid": _function("hard_sigmoid", alpha=0.2, beta=0.5),
    "HardSwish": _function("hard_swish"),
    "Identity": _identity,
    "IsInf": _is_inf,
    "IsNaN": _function("is_nan"),
    "LeakyRelu": _function("leaky_relu", alpha=0.01),
    "Less": _function("cmp_lt"),
    "LessOrEqual": _function("cmp_le"),
    "Log": _function("log"),
    "Max": _chain("max"),
    "Mean": _mean,
    "Min": _chain("min"),
    "Mish": _function("mish"),
    "Mod": _mod,
    "Mul": _function("mul"),
    "Neg": _function("neg"),
    "Not": _function("not"),
    "Or": _function("or"),
    "PRelu": _function("prelu"),
    "Pow": _pow,
    "Reciprocal": _function("recip"),
    "Relu": _function("relu"),
    "Round": _function("round"),
    "Selu": _function("selu", alpha=1.6732631921768188, gamma=1.0507010221481323),
    "Shrink": _function("shrink", lambd=0.5, bias=0.0),
    "Sigmoid": _function("sigmoid"),
    "Sign": _function("sign"),
    "Sin": _function("sin"),
    "Sinh": _function("sinh"),
    "Softplus": _function("softplus"),
    "Softsign": _function("softsign"),
    "Sqrt": _function("sqrt"),
    "Sub": _function("sub"),
    "Sum": _sum,
    "SwiGLU": _function("swiglu", alpha=1.0),
    "Swish": _function("swish", alpha=1.0),
    "Tan": _function("tan"),
    "Tanh": _function("tanh"),
    "ThresholdedRelu": _function("thresholded_relu", alpha=1.0),
    "Where": _where,
    "Xor": _function("xor"),
}
