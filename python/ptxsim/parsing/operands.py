"""Reads the operands of one instruction.

In: a cursor behind the opcode, and the scopes that say which names are registers. Out: `syntax.Operand`s.
Source: PTX ISA §6 (operands), §9.1 (formats), §10 (special registers).
"""

from ptxsim.parsing import constants
from ptxsim.parsing.lexer import MARK, NUMBER, WORD, Cursor
from ptxsim.parsing.scope import Scopes
from ptxsim.parsing.syntax import (
    Address,
    Arguments,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    TensorAddress,
    Vector,
)

#: The elements of a vector by either of their names.
_COMPONENTS = {"x": "x", "y": "y", "z": "z", "w": "w", "r": "x", "g": "y", "b": "z", "a": "w"}

_WITH_COMPONENTS = {
    f"%{name}"
    for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
}
_WITHOUT_COMPONENT = {
    f"%{name}"
    for name in (
        *("laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "is_explicit_cluster"),
        *("cluster_ctarank", "cluster_nctarank", "clock", "clock_hi", "clock64"),
        *("lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"),
        *("globaltimer", "globaltimer_lo", "globaltimer_hi", "current_graph_exec"),
        *("total_smem_size", "aggr_smem_size", "dynamic_smem_size"),
        *("reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap"),
        *("reserved_smem_offset_0", "reserved_smem_offset_1"),
        *(f"pm{number}" for number in range(8)),
        *(f"pm{number}_64" for number in range(8)),
        *(f"envreg{number}" for number in range(32)),
    )
}


def operands(cursor: Cursor, scopes: Scopes) -> tuple[Operand, ...]:
    """Read operands up to the `;`, which is left."""
    if cursor.texts[cursor.position] == ";":
        return ()
    read = [operand(cursor, scopes)]
    while cursor.accept(","):
        read.append(operand(cursor, scopes))
    return tuple(read)


def call_operands(cursor: Cursor, scopes: Scopes) -> tuple[Operand, ...]:
    """Read the operands of a `call`: returns, callee, arguments, and the targets or the prototype if there are any."""
    returns: Operand = Arguments(())
    if cursor.text == "(":
        returns = _arguments(cursor, scopes)
        cursor.expect(",")
    callee = _word(cursor, scopes)
    if not isinstance(callee, Register | Symbol):
        raise cursor.error("a call names a function or a register", cursor.position - 1)
    arguments: Operand = Arguments(())
    further: list[Operand] = []
    while cursor.accept(","):
        if cursor.text == "(" and not further and arguments == Arguments(()):
            arguments = _arguments(cursor, scopes)
        elif not further:
            further.append(_word(cursor, scopes))
        else:
            raise cursor.error("a call ends with its targets or its prototype")
    return (returns, callee, arguments, *further)


def operand(cursor: Cursor, scopes: Scopes) -> Operand:
    """Read one operand."""
    position = cursor.position
    kind, text = cursor.kinds[position], cursor.texts[position]
    if kind == WORD and text != "WARP_SZ":
        read = _word(cursor, scopes)
        if cursor.texts[cursor.position] == "|" and isinstance(read, Register):
            return _pair(cursor, scopes, read)
        return read
    if kind == MARK:
        if text == "[":
            return _address(cursor, scopes)
        if text == "{":
            return _vector(cursor, scopes)
        if text == "_":
            cursor.position += 1
            return _pair(cursor, scopes, Sink()) if cursor.text == "|" else Sink()
        if text == "!" and cursor.kinds[position + 1] == WORD:
            cursor.position += 1
            return Negated(register(cursor, scopes))
    is_constant = kind == NUMBER or text == "WARP_SZ" or (kind == MARK and text in "(+-~!")
    if not is_constant:
        raise cursor.error(f"expected an operand, found {cursor.shown()}")
    return constants.immediate(cursor)


def register(cursor: Cursor, scopes: Scopes) -> Register:
    """Read an operand that must be a register."""
    position = cursor.position
    read = _word(cursor, scopes)
    if not isinstance(read, Register):
        raise cursor.error(f"'{cursor.texts[position]}' is no register", position)
    return read


def _word(cursor: Cursor, scopes: Scopes) -> Register | Special | Symbol:
    position = cursor.position
    text = cursor.take(WORD, "a name")
    found = scopes.find(text)
    if found is not None:
        return found
    name, _, component = text.partition(".")
    if component:
        return _element(cursor, scopes, position, name, component)
    if name in _WITHOUT_COMPONENT or name in _WITH_COMPONENTS:
        return Special(name)
    if name[0] == "%":
        raise cursor.error(f"register '{name}' is not declared", position)
    return Symbol(name, _offset(cursor))


def _element(cursor: Cursor, scopes: Scopes, position: int, name: str, component: str) -> Register | Special:
    """The register or special register for `name.component`."""
    if component not in _COMPONENTS:
        raise cursor.error(f"'.{component}' is no element of a vector (x, y, z, w)", position)
    if scopes.find(name) is not None:
        return Register(name, _COMPONENTS[component])
    if name in _WITH_COMPONENTS:
        return Special(name, _COMPONENTS[component])
    raise cursor.error(f"'{name}' is not declared as a vector register", position)


def _offset(cursor: Cursor) -> int:
    """Read `+ constant` or `- constant`, or nothing."""
    if cursor.texts[cursor.position] in ("+", "-") and cursor.kind == MARK:
        return constants.integer(cursor, "an offset")
    return 0


def _pair(cursor: Cursor, scopes: Scopes, first: Register | Sink) -> Pair:
    cursor.expect("|")
    second = Sink() if cursor.accept("_") else register(cursor, scopes)
    return Pair(first, second)


def _vector(cursor: Cursor, scopes: Scopes) -> Vector:
    cursor.expect("{")
    items: list[Operand] = []
    while not items or cursor.accept(","):
        if cursor.text in ("{", "["):
            raise cursor.error("a vector has registers and constants only")
        items.append(operand(cursor, scopes))
    cursor.expect("}")
    return Vector(tuple(items))


def _arguments(cursor: Cursor, scopes: Scopes) -> Arguments:
    cursor.expect("(")
    items: list[Operand] = []
    while cursor.text != ")" and (not items or cursor.accept(",")):
        items.append(operand(cursor, scopes))
    cursor.expect(")")
    return Arguments(tuple(items))


def _address(cursor: Cursor, scopes: Scopes) -> Address | TensorAddress:
    cursor.expect("[")
    if cursor.kind != WORD or cursor.text == "WARP_SZ":
        absolute = constants.integer(cursor, "an address")
        cursor.expect("]")
        return Address(Immediate(0, "int", 0), absolute)
    position = cursor.position
    base = _word(cursor, scopes)
    if isinstance(base, Special):
        raise cursor.error(f"a special register such as '{base.name}' is no address", position)
    if isinstance(base, Symbol):
        base, offset = Symbol(base.name), base.offset
    else:
        offset = _offset(cursor)
    return Address(base, offset) if cursor.accept("]") else _tensor_address(cursor, scopes, base, offset)


def _tensor_address(cursor: Cursor, scopes: Scopes, base: Register | Symbol, offset: int) -> TensorAddress:
    coordinates: tuple[Operand, ...] | None = None
    extra: list[Operand] = []
    if cursor.text != ",":
        cursor.expect("]")
    while cursor.accept(","):
        if cursor.text == "[":
            raise cursor.error("an address inside an address")
        part = operand(cursor, scopes)
        if coordinates is None and isinstance(part, Vector):
            coordinates = part.items
        else:
            extra.append(part)
    cursor.expect("]")
    return TensorAddress(base, coordinates or (), offset, tuple(extra))
