"""Pure scalar ops as CUDA C++ expressions, with the meaning that MLIR gives them.

In: an op of arith, math or memref.load, and the texts of its operands. Out: a `Text`, which knows how tightly it binds,
so that only the brackets that are needed are written. Where C++ leaves a case undefined or means another one (overflow
of signed integers, NaN in a maximum), a function of the prelude (`prelude`) stands instead of the operator;
arithmetic on `index` is plain, since positions in memory do not overflow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyc.dialects.gpu.cuda.types import constant_text, is_narrow, type_name, unsigned_name
from tinyc.mlir import ir

ATOM, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY, AND, OR, CHOICE = 16, 15, 13, 12, 11, 10, 9, 5, 4, 3
_BITS = 8  # & ^ |: their operands are bracketed unless they are atoms, since few know how these bind


@dataclass(frozen=True)
class Text:
    """An expression and the precedence of its outermost operator."""

    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """Return the text as an operand of an operator that asks for `level` or tighter."""
        return self.text if self.level >= level else f"({self.text})"


#: How an op is written: from its printer (see `Printer`), the op and the number of the result.
Writer = Callable[[Any, Any, int], Text]


def call(name: str, *operands: Text) -> Text:
    """Return a call of a function."""
    return Text(f"{name}({', '.join(operand.text for operand in operands)})")


def binary(symbol: str, level: int, left: Text, right: Text, associative: bool = False) -> Text:
    """Return an operator between two operands."""
    return Text(f"{left.within(level)} {symbol} {right.within(level if associative else level + 1)}", level)


def converted(kind: str, operand: Text) -> Text:
    """Return an operand converted to the type named `kind`."""
    return Text(f"{kind}({operand.text})")


def _type(op: Any, result: int = 0) -> Any:
    return op.results[result].type


def _is_index(kind: Any) -> bool:
    return isinstance(kind, ir.IndexType)


def _is_bool(kind: Any) -> bool:
    return str(kind) == "i1"


# --- integers ---------------------------------------------------------------------------------------------------------


def _integer_sum(symbol: str, level: int, name: str, on_bool: str) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if _is_bool(kind):
            return binary(on_bool, EQUALITY if on_bool == "!=" else AND, left, right)
        if _is_index(kind):
            folded = printer.fold_constants(op) or _plain(symbol, left, right)
            # Bracketed to the left and to the right these are the same number; a product of a quotient is not.
            same = symbol == "+" or (symbol == "*" and "/" not in right.text and "%" not in right.text)
            return folded or binary(symbol, level, left, right, associative=same)
        return call(printer.helper(name), left, right)

    return write


def _plain(symbol: str, left: Text, right: Text) -> Text | None:
    """Return `a + -1` as `a - 1`, and `a * -1` as `-a`."""
    if symbol == "+" and right.text.startswith("-") and right.level == UNARY:
        return binary("-", SUM, left, Text(right.text[1:]))
    return Text(f"-{left.within(ATOM)}", UNARY) if symbol == "*" and right.text == "-1" else None


def _signed_division(symbol: str) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        text = binary(symbol, PRODUCT, *map(printer.operand, op.operands))
        return converted(type_name(_type(op)), text) if is_narrow(_type(op)) else text

    return write


def _unsigned(symbol: str, level: int) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if all(printer.is_nonnegative(operand) for operand in op.operands):
            return binary(symbol, level, left, right)
        name = unsigned_name(kind)
        return converted(type_name(kind), binary(symbol, level, converted(name, left), converted(name, right)))

    return write


def _rounded_division(name: str) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        left, right = map(printer.operand, op.operands)
        if name == "floor_div" and all(printer.is_nonnegative(operand) for operand in op.operands):
            return binary("/", PRODUCT, left, right)
        return call(printer.helper(name), left, right)

    return write


def _bits(symbol: str, on_bool: str, level: int) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if _is_bool(kind):
            if symbol == "^" and right.text == "true":
                return Text(f"!{left.within(UNARY)}", UNARY)
            other = {AND: OR, OR: AND}.get(level)
            left, right = (Text(f"({each.text})") if each.level == other else each for each in (left, right))
            return binary(on_bool, level, left, right, associative=level != EQUALITY)
        text = Text(f"{left.within(UNARY)} {symbol} {right.within(UNARY)}", _BITS)
        return converted(type_name(kind), text) if is_narrow(kind) else text

    return write


def _shift(symbol: str, signed: bool) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if signed or (symbol == ">>" and printer.is_nonnegative(op.operands[0])):
            text = Text(f"{left.within(UNARY)} {symbol} {right.within(UNARY)}", SHIFT)
            return converted(type_name(kind), text) if is_narrow(kind) else text
        return converted(type_name(kind), Text(f"{unsigned_name(kind)}({left.text}) {symbol} {right.within(UNARY)}"))

    return write


#: By predicate of arith.cmpi: the operator, and whether it compares as unsigned (None: either).
_INTEGER_COMPARISONS = (
    *(("==", None), ("!=", None), ("<", False), ("<=", False), (">", False), (">=", False)),
    *(("<", True), ("<=", True), (">", True), (">=", True)),
)


def _compare_integers(printer: Any, op: Any, _: int) -> Text:
    symbol, unsigned = _INTEGER_COMPARISONS[op.attributes["predicate"].value]
    kind, (left, right) = op.operands[0].type, map(printer.operand, op.operands)
    level = EQUALITY if unsigned is None else RELATION
    if _is_bool(kind) and unsigned is False:
        left, right = right, left  # the i1 `true` is -1
    if not unsigned or _is_bool(kind) or all(printer.is_nonnegative(operand) for operand in op.operands):
        return binary(symbol, level, left, right)
    if symbol == "<" and left.level == ATOM and printer.is_nonnegative(op.operands[1]):
        return binary("&&", AND, Text(f"0 <= {left.text}", RELATION), binary("<", RELATION, left, right))
    name = unsigned_name(kind)
    return binary(symbol, level, converted(name, left), converted(name, right))


def _extreme(symbol: str, unsigned: bool) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if _is_bool(kind):
            wider = (symbol == ">") == unsigned
            return binary("||" if wider else "&&", OR if wider else AND, left, right)
        if unsigned and not all(printer.is_nonnegative(operand) for operand in op.operands):
            name = printer.helper("larger" if symbol == ">" else "smaller")
            operands = [converted(unsigned_name(kind), each) for each in (left, right)]
            return converted(type_name(kind), call(name, *operands))
        return call(printer.helper("larger" if symbol == ">" else "smaller"), _exact(kind, left), _exact(kind, right))

    return write


def _exact(kind: Any, operand: Text) -> Text:
    """Return an operand whose C++ type is exactly that of its MLIR type, which a bare literal of an index is not."""
    return converted("int64_t", operand) if _is_index(kind) and operand.text.lstrip("-").isdigit() else operand


def _extended_product(printer: Any, op: Any, result: int) -> Text:
    return call(printer.helper("multiply_high" if result else "wrapping_mul"), *map(printer.operand, op.operands))


# --- floats -----------------------------------------------------------------------------------------------------------


def _operator(symbol: str, level: int) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        left, right = map(printer.operand, op.operands)
        return binary(symbol, level, left, right)

    return write


def _negated(printer: Any, op: Any, _: int) -> Text:
    return Text(f"-{printer.operand(op.operands[0]).within(ATOM)}", UNARY)


_SAME_IN_C = ("ceil", "cos", "erf", "exp", "exp2", "floor", "fma", "log", "log2", "sin", "sqrt", "tanh", "trunc")
#: The functions of the C library that are called; for f32 there is an `f` behind their names.
LIBRARY = (*_SAME_IN_C, "fabs", "fmax", "fmin", "fmod", "rint")


def _function(name: str) -> Writer:
    """Write a function of the C library."""
    return lambda printer, op, _: call(
        f"{name}{'f' if str(_type(op)) == 'f32' else ''}", *map(printer.operand, op.operands)
    )


def _helper(name: str) -> Writer:
    return lambda printer, op, _: call(printer.helper(name), *map(printer.operand, op.operands))


#: By predicate of arith.cmpf: the operator, and whether it is negated to hold for NaN too.
_FLOAT_COMPARISONS = {
    **{1: ("==", False), 2: (">", False), 3: (">=", False), 4: ("<", False), 5: ("<=", False), 13: ("!=", False)},
    **{9: ("<=", True), 10: ("<", True), 11: (">=", True), 12: (">", True)},
}


def _compare_floats(printer: Any, op: Any, _: int) -> Text:
    predicate = op.attributes["predicate"].value
    left, right = map(printer.operand, op.operands)
    if predicate in (0, 15):
        return Text("true" if predicate else "false")
    if predicate in _FLOAT_COMPARISONS:
        symbol, negated = _FLOAT_COMPARISONS[predicate]
        text = binary(symbol, EQUALITY if symbol in ("==", "!=") else RELATION, left, right)
        return Text(f"!({text.text})", UNARY) if negated else text
    if predicate in (6, 8):
        name = printer.helper("less_or_greater")
        return Text(f"{'' if predicate == 6 else '!'}{call(name, left, right).text}", UNARY)
    name = printer.helper("is_nan")
    both = [call(name, each) for each in dict.fromkeys((left, right))]
    either = both[0] if len(both) == 1 else binary("||", OR, both[0], both[1])
    return either if predicate == 14 else Text(f"!{either.within(UNARY)}", UNARY)


# --- conversions ------------------------------------------------------------------------------------------------------

_WIDEN = {"f16": "__half2float", "bf16": "__bfloat162float"}
_NARROW = {("f32", "f16"): "__float2half_rn", ("f32", "bf16"): "__float2bfloat16_rn"}
_NARROW |= {("f64", "f16"): "__double2half", ("f64", "bf16"): "__double2bfloat16"}


def _widened(printer: Any, op: Any, _: int) -> Text:
    source, target, operand = str(op.operands[0].type), str(_type(op)), printer.operand(op.operands[0])
    operand = call(_WIDEN[source], operand) if source in _WIDEN else operand
    return operand if source in _WIDEN and target == "f32" else converted(type_name(_type(op)), operand)


def _narrowed(printer: Any, op: Any, _: int) -> Text:
    name = _NARROW.get((str(op.operands[0].type), str(_type(op))), "float")
    return call(name, printer.operand(op.operands[0]))


def _convert(from_unsigned: bool = False, to_unsigned: bool = False) -> Writer:
    def write(printer: Any, op: Any, _: int) -> Text:
        source, target, operand = op.operands[0].type, _type(op), printer.operand(op.operands[0])
        if _is_bool(source) and not from_unsigned:
            return Text(f"-{type_name(target)}({operand.text})", UNARY)
        if from_unsigned and not _is_bool(source) and not printer.is_nonnegative(op.operands[0]):
            operand = converted(unsigned_name(source), operand)
        if to_unsigned:
            operand = converted(unsigned_name(target), operand)
        if not _is_index(target):
            operand = _exact(source, operand)
        return operand if type_name(source) == type_name(target) else converted(type_name(target), operand)

    return write


def _truncated(printer: Any, op: Any, _: int) -> Text:
    operand = printer.operand(op.operands[0])
    if _is_bool(_type(op)):
        return binary("!=", EQUALITY, Text(f"({operand.within(UNARY)} & 1)"), Text("0"))
    return converted(type_name(_type(op)), operand)


def _reinterpreted(printer: Any, op: Any, _: int) -> Text:
    return call(f"{printer.helper('bit_cast')}<{type_name(_type(op))}>", printer.operand(op.operands[0]))


def _chosen(printer: Any, op: Any, _: int) -> Text:
    return choice(_type(op), *map(printer.operand, op.operands))


def choice(kind: Any, condition: Text, if_true: Text, if_false: Text) -> Text:
    """Return `condition ? if_true : if_false`."""
    if _is_bool(kind) and if_false.text == "false":
        return binary("&&", AND, condition, if_true, associative=True)
    text = f"{condition.within(OR)} ? {if_true.within(OR)} : {if_false.within(CHOICE)}"
    return converted(type_name(kind), Text(text)) if is_narrow(kind) else Text(text, CHOICE)


def _constant(printer: Any, op: Any, _: int) -> Text:
    text = constant_text(op.attributes["value"])
    return Text(text, UNARY if text.startswith("-") else ATOM)


def _loaded(printer: Any, op: Any, _: int) -> Text:
    position = printer.operand(op.operands[1]).text if len(op.operands) > 1 else "0"
    return Text(f"{printer.buffer(op.operands[0])}[{position}]")


#: How each pure op is written.
WRITERS: dict[str, Writer] = {
    "arith.constant": _constant,
    "arith.addi": _integer_sum("+", SUM, "wrapping_add", "!="),
    "arith.subi": _integer_sum("-", SUM, "wrapping_sub", "!="),
    "arith.muli": _integer_sum("*", PRODUCT, "wrapping_mul", "&&"),
    "arith.mului_extended": _extended_product,
    "arith.divsi": _signed_division("/"),
    "arith.remsi": _signed_division("%"),
    "arith.divui": _unsigned("/", PRODUCT),
    "arith.remui": _unsigned("%", PRODUCT),
    "arith.floordivsi": _rounded_division("floor_div"),
    "arith.ceildivsi": _rounded_division("ceil_div"),
    "arith.andi": _bits("&", "&&", AND),
    "arith.ori": _bits("|", "||", OR),
    "arith.xori": _bits("^", "!=", EQUALITY),
    "arith.shli": _shift("<<", signed=False),
    "arith.shrsi": _shift(">>", signed=True),
    "arith.shrui": _shift(">>", signed=False),
    "arith.cmpi": _compare_integers,
    "arith.maxsi": _extreme(">", unsigned=False),
    "arith.minsi": _extreme("<", unsigned=False),
    "arith.maxui": _extreme(">", unsigned=True),
    "arith.minui": _extreme("<", unsigned=True),
    "arith.addf": _operator("+", SUM),
    "arith.subf": _operator("-", SUM),
    "arith.mulf": _operator("*", PRODUCT),
    "arith.divf": _operator("/", PRODUCT),
    "arith.remf": _function("fmod"),
    "arith.negf": _negated,
    "arith.cmpf": _compare_floats,
    "arith.maximumf": _helper("maximum"),
    "arith.minimumf": _helper("minimum"),
    "arith.maxnumf": _function("fmax"),
    "arith.minnumf": _function("fmin"),
    "arith.select": _chosen,
    "arith.extf": _widened,
    "arith.truncf": _narrowed,
    "arith.extsi": _convert(),
    "arith.extui": _convert(from_unsigned=True),
    "arith.trunci": _truncated,
    "arith.index_cast": _convert(),
    "arith.index_castui": _convert(from_unsigned=True),
    "arith.sitofp": _convert(),
    "arith.uitofp": _convert(from_unsigned=True),
    "arith.fptosi": _convert(),
    "arith.fptoui": _convert(to_unsigned=True),
    "arith.bitcast": _reinterpreted,
    "memref.load": _loaded,
    "math.absf": _function("fabs"),
    "math.rsqrt": lambda printer, op, _: call(printer.helper("reciprocal_root"), printer.operand(op.operands[0])),
    **{f"math.{name}": _function(name) for name in _SAME_IN_C},
    "math.roundeven": _function("rint"),
}
