"""The tree of a PTX module as it is written: what `parser.parse` returns and `link` makes into flat code.

Names are kept as text and resolved by the linker, but for one thing: an operand that names a register of an enclosing
scope is a `Register`, any other name (a variable, a label, a function, a table) a `Symbol`. Types and state spaces are
PTX's words without the dot ("u32", "b64", "shared").
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

#: Between a place in a function that was inlined and the place of its call.
INLINED = ", inlined at "
_NAMED_CALLS = 16


@dataclass(frozen=True, slots=True)
class Source:
    """A place in the program that the PTX was compiled from (`.loc`); `inlined_at` is the call it was inlined at."""

    file: str
    line: int
    column: int
    function: str | None = None
    inlined_at: "Source | None" = None

    def __str__(self) -> str:
        """`file:line:column`, and the calls that it was inlined at, innermost first, a few at most."""
        places, source = [], self
        while source is not None and len(places) < _NAMED_CALLS:
            places.append(f"{source.file}:{source.line}:{source.column}")
            source = source.inlined_at
        return INLINED.join(places)


# Operands


@dataclass(frozen=True, slots=True)
class Register:
    """A register, or with `component` ("x" … "w") one element of a vector register."""

    name: str
    component: str | None = None


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant: an "int", a single ("f32", 0f…) or a double ("f64", 0d… or 1.5).

    `value` is the number; `bits` are the exact bits of an "f32" or "f64" and the low 64 bits of an "int".
    """

    value: int | float
    kind: Literal["int", "f32", "f64"]
    bits: int


@dataclass(frozen=True, slots=True)
class Special:
    """A special register (`%tid.x`: name "%tid", component "x"; `%laneid`: component None)."""

    name: str
    component: str | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, label, function or table by name, plus a constant number of bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; the base of an absolute address `[16]` is an `Immediate` of 0 (and the offset 16)."""

    base: "Register | Symbol | Immediate | Slot | Location"
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TensorAddress:
    """`[base, {coordinates}]`; an im2col or texture operand may have further `extra` parts."""

    base: "Register | Symbol | Slot | Location"
    coordinates: tuple["Operand", ...]
    offset: int = 0
    extra: tuple["Operand", ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, …}`."""

    items: tuple["Operand", ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`p|q`: two results of one instruction."""

    first: "Register | Slot | Sink"
    second: "Register | Slot | Sink"


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p`."""

    register: "Register | Slot"


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result that is dropped."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b, …)` of a call. A call has three or four operands: returns, callee, arguments, targets or prototype."""

    items: tuple["Operand", ...]


# What the linker puts in the place of names


@dataclass(frozen=True, slots=True)
class Slot:
    """A register: its number in the register file of the kernel and its type ("b32", "pred" …)."""

    index: int
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class BranchTarget:
    """A label: the index of the instruction that follows it."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class BranchTable:
    """A `.branchtargets` table: instruction indices in order."""

    indices: tuple[int, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a state space: byte `offset`, within or near `variable`.

    Spaces: "global" and "const" (offsets in the module's segments), "shared" (in the CTA's memory), "local" (in the
    thread's local memory), "param::entry" (the kernel's arguments), "param::func" (the thread's parameters of calls).
    """

    space: str
    offset: int
    variable: "Variable"


@dataclass(frozen=True, slots=True)
class FunctionAddress:
    """A function; `address` is the number that a register or variable holds for it, the same in every kernel."""

    name: str
    address: int


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """A `.calltargets` table."""

    functions: tuple[FunctionAddress, ...]
    name: str


# Statements


@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p`."""

    register: "Register | Slot"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """`@!%p1 ld.global.f32 %f1, [%rd1];`: opcode "ld", modifiers ("global", "f32"), in the order written."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple["Operand", ...]
    guard: Guard | None
    line: int
    column: int
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """`name:`."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Registers:
    """`.reg .v2 .f32 %name<count>;`: `count` None declares `%name` itself; `lanes` is 1 for a scalar register."""

    name: str
    count: int | None
    type: str
    lanes: int
    line: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """Bytes of an initialiser that hold an address: `size` bytes at `offset`, from bit `shift` of the address on.

    The address is that of `symbol` plus `addend`, in its own state space, or a generic one where `generic` says so.
    """

    offset: int
    size: int
    symbol: str
    addend: int
    generic: bool
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter of a state space ("const", "global", "shared", "local", "param").

    `alignment` and `size` are in bytes; `size` is 0 for an external array without extent. `initial` is None where
    nothing is written, and `size` bytes otherwise. `linkage` is "", "visible", "extern", "weak" or "common". `target`
    is the address space that a kernel parameter points to (`.ptr .global`), where it is said.
    """

    name: str
    space: str
    type: str
    alignment: int
    shape: tuple[int, ...]
    size: int
    line: int
    lanes: int = 1
    initial: bytes | None = None
    relocations: tuple[Relocation, ...] = ()
    linkage: str = ""
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Targets:
    """`name: .branchtargets a, b;` or `name: .calltargets f, g;`."""

    name: str
    kind: Literal["branch", "call"]
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Prototype:
    """`name: .callprototype (returns) _ (parameters);`."""

    name: str
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    line: int


Resolved: TypeAlias = Slot | BranchTarget | BranchTable | Location | FunctionAddress | FunctionTable | Prototype
Operand: TypeAlias = (
    Register
    | Immediate
    | Special
    | Symbol
    | Address
    | TensorAddress
    | Vector
    | Pair
    | Negated
    | Sink
    | Arguments
    | Resolved
)


@dataclass(frozen=True, slots=True)
class Block:
    """`{ … }`: statements in order, with the scope of the names declared in it."""

    statements: tuple["Statement", ...]
    line: int


Statement: TypeAlias = Instruction | Label | Registers | Variable | Targets | Prototype | Block


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel (`.entry`) or device function (`.func`); `body` is None for a declaration.

    A parameter is a `Variable` of space "param", or of space "reg" where a device function takes registers.
    `directives` has the performance directives by name, e.g. {"reqntid": (128, 1, 1), "minnctapersm": (1,)}.
    """

    name: str
    is_entry: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    directives: dict[str, tuple[int, ...]]
    body: Block | None
    line: int
    linkage: str = ""

    @property
    def declaration(self) -> "Function":
        """The function without its body."""
        return replace(self, body=None)


@dataclass(frozen=True, slots=True)
class ModuleTree:
    """A PTX module. `version` is (8, 5) for `.version 8.5`, `target` the words of `.target`, `address_size` in bits."""

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    variables: dict[str, Variable]
    functions: dict[str, Function]
