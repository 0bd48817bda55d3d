"""Pure scalar ops as CUDA C++ expressions, with the meaning that MLIR gives them.

In: an op of arith, math or memref.load, and its operands as text. Out: a `CppText`, which knows how tightly it binds,
so that only the brackets that are needed are written. Where C++ leaves a case undefined or means another one (overflow
of signed integers, NaN in a maximum), a function of the prelude (`prelude`) stands instead of the operator;
arithmetic on `index` is plain, since positions in memory do not overflow.
"""

from tinyc.dialects.cuda.printer.idioms import TEMPLATE
from tinyc.dialects.cuda.printer.text import (
    AND,
    ATOM,
    BITWISE,
    EQUALITY,
    OR,
    PREFIX,
    PRODUCT,
    RELATION,
    SHIFT,
    SUM,
    CppText,
    ExpressionPrinter,
    Writer,
    call,
    choice,
    converted,
    infix,
)
from tinyc.dialects.cuda.printer.types import constant_text, is_narrow, type_name, unsigned_name
from tinyc.dialects.gpu.kernel import Position
from tinyc.mlir import arith, func, ir, math, memref
from tinyc.vocabulary.elementwise import ROWS


def _type(op: ir.OpView, result: int = 0) -> ir.Type:
    return op.results[result].type


def _predicate(op: ir.OpView) -> int:
    return ir.IntegerAttr(op.attributes["predicate"]).value


def _is_index(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IndexType)


def _is_bool(kind: ir.Type) -> bool:
    return str(kind) == "i1"


# --- integers ---------------------------------------------------------------------------------------------------------


def _integer_sum(symbol: str, level: int, name: str, on_bool: str) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        right = _widened_word(printer, op.operands[1], right) if not left.text.isdigit() else right
        if _is_bool(kind):
            return infix(on_bool, EQUALITY if on_bool == "!=" else AND, left, right)
        if printer.is_word(op.results[0]):
            return infix(symbol, level, left, right, associative=symbol == "+")
        if _is_index(kind):
            folded = printer.fold_constants(op) or _plain(symbol, left, right)
            # Bracketed to the left and to the right these are the same number; a product of a quotient is not.
            same = symbol == "+" or (symbol == "*" and "/" not in right.text and "%" not in right.text)
            return folded or infix(symbol, level, left, right, associative=same)
        return call(printer.helper(name), left, right)

    return write


def _widened_word(printer: ExpressionPrinter, value: ir.Value, operand: CppText) -> CppText:
    """The second operand of a position: a word that is converted to one, which C++ does beside a position itself."""
    op = value.owner
    if not isinstance(op, arith.IndexCastOp) or not printer.is_word(op.in_):
        return operand
    word = printer.operand(op.in_)
    if operand.text != converted("int64_t", word).text:
        return operand
    return word if word.level == ATOM else CppText(f"({word.text})")


def _plain(symbol: str, left: CppText, right: CppText) -> CppText | None:
    """`a + -1` as `a - 1`, and `a * -1` as `-a`."""
    if symbol == "+" and right.text.startswith("-") and right.level == PREFIX:
        return infix("-", SUM, left, CppText(right.text[1:]))
    return CppText(f"-{left.within(ATOM)}", PREFIX) if symbol == "*" and right.text == "-1" else None


def _signed_division(symbol: str) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        left, right = map(printer.operand, op.operands)
        text = infix(symbol, PRODUCT, left, right)
        return converted(type_name(_type(op)), text) if is_narrow(_type(op)) else text

    return write


def _unsigned(symbol: str, level: int) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if all(printer.is_nonnegative(operand) for operand in op.operands):
            return infix(symbol, level, left, right)
        name = unsigned_name(kind)
        return converted(type_name(kind), infix(symbol, level, converted(name, left), converted(name, right)))

    return write


def _rounded_division(name: str) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        left, right = map(printer.operand, op.operands)
        if name == "floor_div" and all(printer.is_nonnegative(operand) for operand in op.operands):
            return infix("/", PRODUCT, left, right)
        return call(printer.helper(name), left, right)

    return write


def _bits(symbol: str, on_bool: str, level: int) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if _is_bool(kind):
            if symbol == "^" and right.text == "true":
                return CppText(f"!{left.within(PREFIX)}", PREFIX)
            other = {AND: OR, OR: AND}.get(level)
            left, right = (CppText(f"({each.text})") if each.level == other else each for each in (left, right))
            return infix(on_bool, level, left, right, associative=level != EQUALITY)
        text = CppText(f"{left.within(PREFIX)} {symbol} {right.within(PREFIX)}", BITWISE)
        return converted(type_name(kind), text) if is_narrow(kind) else text

    return write


def _shift(symbol: str, signed: bool) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if signed or printer.is_word(op.results[0]) or (symbol == ">>" and printer.is_nonnegative(op.operands[0])):
            text = CppText(f"{left.within(PREFIX)} {symbol} {right.within(PREFIX)}", SHIFT)
            return converted(type_name(kind), text) if is_narrow(kind) else text
        return converted(
            type_name(kind), CppText(f"{unsigned_name(kind)}({left.text}) {symbol} {right.within(PREFIX)}")
        )

    return write


#: By predicate of arith.cmpi: the operator, and whether it compares as unsigned (None: either).
_INTEGER_COMPARISONS = (
    *(("==", None), ("!=", None), ("<", False), ("<=", False), (">", False), (">=", False)),
    *(("<", True), ("<=", True), (">", True), (">=", True)),
)


def _compare_integers(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    symbol, unsigned = _INTEGER_COMPARISONS[_predicate(op)]
    kind, (left, right) = op.operands[0].type, map(printer.operand, op.operands)
    level = EQUALITY if unsigned is None else RELATION
    if _is_bool(kind) and unsigned is False:
        left, right = right, left  # the i1 `true` is -1
    if not unsigned or _is_bool(kind) or all(printer.is_nonnegative(operand) for operand in op.operands):
        return infix(symbol, level, left, right)
    if symbol == "<" and left.level == ATOM and printer.is_nonnegative(op.operands[1]):
        return infix("&&", AND, CppText(f"0 <= {left.text}", RELATION), infix("<", RELATION, left, right))
    name = unsigned_name(kind)
    return infix(symbol, level, converted(name, left), converted(name, right))


def _extreme(symbol: str, unsigned: bool) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        kind, (left, right) = _type(op), map(printer.operand, op.operands)
        if _is_bool(kind):
            wider = (symbol == ">") == unsigned
            return infix("||" if wider else "&&", OR if wider else AND, left, right)
        if printer.is_word(op.results[0]):
            return call(f"{printer.helper('larger' if symbol == '>' else 'smaller')}<uint32_t>", left, right)
        if unsigned and not all(printer.is_nonnegative(operand) for operand in op.operands):
            if symbol == "<" and _is_index(kind):
                return call(printer.helper("smaller_unsigned"), left, right)
            name = printer.helper("larger" if symbol == ">" else "smaller")
            operands = [converted(unsigned_name(kind), each) for each in (left, right)]
            return converted(type_name(kind), call(name, *operands))
        return call(printer.helper("larger" if symbol == ">" else "smaller"), _exact(kind, left), _exact(kind, right))

    return write


def _exact(kind: ir.Type, operand: CppText) -> CppText:
    """An operand whose C++ type is exactly that of its MLIR type, which a bare literal of an index is not."""
    return converted("int64_t", operand) if _is_index(kind) and operand.text.lstrip("-").isdigit() else operand


def _extended_product(printer: ExpressionPrinter, op: ir.OpView, result: int) -> CppText:
    return call(printer.helper("multiply_high" if result else "wrapping_mul"), *map(printer.operand, op.operands))


# --- floats -----------------------------------------------------------------------------------------------------------


def _operator(symbol: str, level: int) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        left, right = map(printer.operand, op.operands)
        return infix(symbol, level, left, right)

    return write


def _negated(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    return CppText(f"-{printer.operand(op.operands[0]).within(ATOM)}", PREFIX)


#: Ops that are functions of the C library: those that the element-wise ops become, and what else code has.
_MATH_OPS = {
    kind.OPERATION_NAME: kind for kind in vars(math).values() if isinstance(kind, type) and issubclass(kind, ir.OpView)
}
_IN_C: dict[type[ir.OpView], str] = {
    **{_MATH_OPS[op]: function for row in ROWS.values() for op, function in row.c_functions.items()},
    arith.MaxNumFOp: "fmax",
    arith.MinNumFOp: "fmin",
    arith.RemFOp: "fmod",
    math.AbsFOp: "fabs",
    math.CeilOp: "ceil",
    math.CosOp: "cos",
    math.ExpOp: "exp",
    math.FmaOp: "fma",
    math.LogOp: "log",
    math.RoundEvenOp: "rint",
    math.TruncOp: "trunc",
}
#: The functions of the C library that are called; for f32 there is an `f` behind their names.
LIBRARY = tuple(_IN_C.values())


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


def _compare_floats(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    predicate = _predicate(op)
    left, right = map(printer.operand, op.operands)
    if predicate in (0, 15):
        return CppText("true" if predicate else "false")
    if predicate in _FLOAT_COMPARISONS:
        symbol, negated = _FLOAT_COMPARISONS[predicate]
        text = infix(symbol, EQUALITY if symbol in ("==", "!=") else RELATION, left, right)
        return CppText(f"!({text.text})", PREFIX) if negated else text
    if predicate in (6, 8):
        name = printer.helper("less_or_greater")
        return CppText(f"{'' if predicate == 6 else '!'}{call(name, left, right).text}", PREFIX)
    name = printer.helper("is_nan")
    both = [call(name, each) for each in dict.fromkeys((left, right))]
    either = both[0] if len(both) == 1 else infix("||", OR, both[0], both[1])
    return either if predicate == 14 else CppText(f"!{either.within(PREFIX)}", PREFIX)


# --- conversions ------------------------------------------------------------------------------------------------------

_WIDEN = {"f16": "__half2float", "bf16": "__bfloat162float"}
_NARROW = {
    ("f32", "f16"): "__float2half_rn",
    ("f32", "bf16"): "__float2bfloat16_rn",
    ("f64", "f16"): "__double2half",
    ("f64", "bf16"): "__double2bfloat16",
}


def _widened(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    source, target, operand = str(op.operands[0].type), str(_type(op)), printer.operand(op.operands[0])
    operand = call(_WIDEN[source], operand) if source in _WIDEN else operand
    return operand if source in _WIDEN and target == "f32" else converted(type_name(_type(op)), operand)


def _narrowed(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    name = _NARROW.get((str(op.operands[0].type), str(_type(op))), "float")
    return call(name, printer.operand(op.operands[0]))


def _convert(from_unsigned: bool = False, to_unsigned: bool = False) -> Writer:
    def write(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
        source, target, operand = op.operands[0].type, _type(op), printer.operand(op.operands[0])
        if _is_bool(source) and not from_unsigned:
            return CppText(f"-{type_name(target)}({operand.text})", PREFIX)
        if from_unsigned and not _is_bool(source) and not printer.is_nonnegative(op.operands[0]):
            operand = converted(unsigned_name(source), operand)
        if printer.is_word(op.results[0]):
            return (
                operand
                if isinstance(op.operands[0].owner, Position) and "." in operand.text
                else converted("uint32_t", operand)
            )
        if to_unsigned:
            operand = converted(unsigned_name(target), operand)
        if not _is_index(target):
            operand = _exact(source, operand)
        return operand if type_name(source) == type_name(target) else converted(type_name(target), operand)

    return write


def _truncated(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    operand = printer.operand(op.operands[0])
    if _is_bool(_type(op)):
        return infix("!=", EQUALITY, CppText(f"({operand.within(PREFIX)} & 1)"), CppText("0"))
    return converted(printer.type_of(op.results[0]), operand)


def _reinterpreted(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    return call(f"{printer.helper('bit_cast')}<{printer.type_of(op.results[0])}>", printer.operand(op.operands[0]))


def _chosen(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    return choice(_type(op), *map(printer.operand, op.operands))


def _constant(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    text = constant_text(op.attributes["value"])
    return CppText(text, PREFIX if text.startswith("-") else ATOM)


def _loaded(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    position = printer.operand(op.operands[1]).text if len(op.operands) > 1 else "0"
    return CppText(f"{printer.buffer(op.operands[0])}[{position}]")


def _called(printer: ExpressionPrinter, op: ir.OpView, _: int) -> CppText:
    name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    numbers = ", ".join(map(str, ir.DenseI64ArrayAttr(op.attributes[TEMPLATE])))
    return call(f"{printer.helper(name)}<{numbers}>", *map(printer.operand, op.operands))


#: How each pure op is written.
WRITERS: dict[type[ir.OpView], Writer] = {
    arith.ConstantOp: _constant,
    arith.AddIOp: _integer_sum("+", SUM, "wrapping_add", "!="),
    arith.SubIOp: _integer_sum("-", SUM, "wrapping_sub", "!="),
    arith.MulIOp: _integer_sum("*", PRODUCT, "wrapping_mul", "&&"),
    arith.MulUIExtendedOp: _extended_product,
    arith.DivSIOp: _signed_division("/"),
    arith.RemSIOp: _signed_division("%"),
    arith.DivUIOp: _unsigned("/", PRODUCT),
    arith.RemUIOp: _unsigned("%", PRODUCT),
    arith.FloorDivSIOp: _rounded_division("floor_div"),
    arith.CeilDivSIOp: _rounded_division("ceil_div"),
    arith.AndIOp: _bits("&", "&&", AND),
    arith.OrIOp: _bits("|", "||", OR),
    arith.XOrIOp: _bits("^", "!=", EQUALITY),
    arith.ShLIOp: _shift("<<", signed=False),
    arith.ShRSIOp: _shift(">>", signed=True),
    arith.ShRUIOp: _shift(">>", signed=False),
    arith.CmpIOp: _compare_integers,
    arith.MaxSIOp: _extreme(">", unsigned=False),
    arith.MinSIOp: _extreme("<", unsigned=False),
    arith.MaxUIOp: _extreme(">", unsigned=True),
    arith.MinUIOp: _extreme("<", unsigned=True),
    arith.AddFOp: _operator("+", SUM),
    arith.SubFOp: _operator("-", SUM),
    arith.MulFOp: _operator("*", PRODUCT),
    arith.DivFOp: _operator("/", PRODUCT),
    arith.NegFOp: _negated,
    arith.CmpFOp: _compare_floats,
    arith.MaximumFOp: _helper("maximum"),
    arith.MinimumFOp: _helper("minimum"),
    arith.SelectOp: _chosen,
    arith.ExtFOp: _widened,
    arith.TruncFOp: _narrowed,
    arith.ExtSIOp: _convert(),
    arith.ExtUIOp: _convert(from_unsigned=True),
    arith.TruncIOp: _truncated,
    arith.IndexCastOp: _convert(),
    arith.IndexCastUIOp: _convert(from_unsigned=True),
    arith.SIToFPOp: _convert(),
    arith.UIToFPOp: _convert(from_unsigned=True),
    arith.FPToSIOp: _convert(),
    arith.FPToUIOp: _convert(to_unsigned=True),
    arith.BitcastOp: _reinterpreted,
    func.CallOp: _called,
    memref.LoadOp: _loaded,
    math.RsqrtOp: _helper("reciprocal_root"),
    **{op: _function(name) for op, name in _IN_C.items()},
}
