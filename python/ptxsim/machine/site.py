"""The place of one instruction while it is compiled: how its operands are read and written.

In: operands as the linker leaves them. Out: functions of a `Batch`. The site notes which registers the instruction
reads and writes, what it passes on, and what its operands decide, which is what `assignment` and `definedness` need to
find uses of registers that nobody wrote. A handler that says nothing gets the strict rule: every register that it reads
must be defined.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NoReturn

import numpy as np

from ptxsim.errors import PtxError
from ptxsim.linking.code import Code
from ptxsim.machine.cta import Batch, Read, Step, Write
from ptxsim.machine.flow import Flow, Rule, every, slot_of
from ptxsim.machine.specials import special_reader
from ptxsim.memory.byte_array import WORDS
from ptxsim.memory.windows import LOCAL_START, SHARED_START
from ptxsim.parsing.syntax import (
    FunctionAddress,
    Immediate,
    Instruction,
    Location,
    Negated,
    Operand,
    Sink,
    Slot,
    Special,
)
from ptxsim.parsing.types import TYPE_BITS, agree
from ptxsim.semantics.operation import UnknownInstruction

#: Types of operands that no register is declared with.
_OPERAND_BITS = TYPE_BITS | {
    "e4m3x2": 16,
    "e5m2x2": 16,
    "e4m3x4": 32,
    "e5m2x4": 32,
    "e2m1x2": 8,
    "e2m3x2": 16,
    "e3m2x2": 16,
    "ue8m0x2": 16,
    "u16x2": 32,
    "s16x2": 32,
    "b16x2": 32,
    "f32x2": 64,
}
#: First address of the variables of a space, where that is the same for every CTA and launch.
_STARTS = {"shared": SHARED_START, "local": LOCAL_START, "param::func": LOCAL_START, "param::entry": 0, "const": 0}


#: Instructions whose registers may be wider than their types. Source: PTX ISA, "Operand Size Exceeding Instruction-Type
#: Size".
_WIDENING = frozenset({"ld", "ldu", "st", "cvt"})


def _nothing(batch: Batch) -> None:
    """Do nothing: no state of a register changes."""


def type_bits(type_name: str) -> int:
    """The width of a PTX type in bits."""
    return _OPERAND_BITS[type_name]


@dataclass
class Site:
    """Instruction number `index` of `code`, with what its closure reads and writes (register numbers)."""

    instruction: Instruction
    index: int
    code: Code
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    #: What undefined operands do to the results; those of a call's returns are apart.
    flows: list[Flow] = field(default_factory=list)
    return_flows: list[Flow] = field(default_factory=list)
    #: State spaces whose unwritten bytes the instruction may copy: it gives an undefined value for them.
    copies_unwritten: frozenset[str] = frozenset()
    #: Register → what its value decides ("an address"): it must be defined.
    roles: dict[int, str] = field(default_factory=dict)
    #: The step for where sources of its only flow may be undefined: it is given how to read the state of each.
    step_with_states: Callable[[list[Read]], Step] | None = None
    #: Whether the instruction acts once lanes have converged: it calls `when_converged` with them, then writes results.
    converges: bool = False
    when_converged: Callable[[Batch], None] = _nothing
    #: Instructions where threads may go on, where that is not only the next one.
    targets: set[int] = field(default_factory=set)
    #: What a call does once its lanes are back.
    after_return: Step | None = None
    #: Whether threads can reach the next instruction.
    falls_through: bool = True

    def __post_init__(self) -> None:
        if self.guard_slot is not None:
            self.reads.add(self.guard_slot)

    @property
    def name(self) -> str:
        """The opcode with its modifiers."""
        return ".".join((self.instruction.opcode, *self.instruction.modifiers))

    @property
    def guard_slot(self) -> int | None:
        """The number of the register that guards the instruction, None without a guard."""
        guard = self.instruction.guard
        return None if guard is None else slot_of(guard.register)

    def fail(self, message: str) -> NoReturn:
        """Raise PtxError at this instruction."""
        raise PtxError(message, self.instruction.line, self.instruction.column)

    def unknown(self) -> NoReturn:
        """Raise PtxError: the simulator does not know this instruction."""
        self.fail(f"'{self.name}' is not an instruction that the simulator knows")

    def operands(self, *counts: int) -> tuple[Operand, ...]:
        """The operands; PtxError where there are not as many as one of `counts` says."""
        found = self.instruction.operands
        if len(found) not in counts:
            wanted = " or ".join(map(str, counts))
            self.fail(f"'{self.name}' takes {wanted} operand{'' if counts == (1,) else 's'}, not {len(found)}")
        return found

    def constant(self, operand: object, what: str) -> int:
        """An operand that must be a constant, an integer and not negative; `what` it is, for the PtxError."""
        if not isinstance(operand, Immediate) or operand.kind != "int" or operand.value < 0:
            self.fail(f"'{self.name}' takes a constant {what}, not negative")
        return int(operand.value)

    @property
    def carry(self) -> Slot:
        """The carry flag, as a register behind all others."""
        return Slot(len(self.code.slots), "pred", "CC.CF")

    def register_name(self, slot: int) -> str:
        """The name of register number `slot` in the PTX."""
        return self.code.slots[slot].name if slot < len(self.code.slots) else self.carry.name

    def passes_on(self, sources: "tuple[object, ...]", targets: "tuple[object, ...]", rule: Rule = every) -> None:
        """Note that undefined operands `sources` make `targets` undefined where `rule` says so."""
        self.flows.append(Flow(sources, targets, rule))

    def forget_flows(self) -> None:
        """Drop what says how undefined values flow, once the steps are made: it is much, and may refer to the site."""
        self.flows.clear()
        self.return_flows.clear()
        self.step_with_states = None

    def decides(self, operand: object, role: str) -> None:
        """Note that an operand must be defined, since it is `role` ("an address")."""
        slot = slot_of(operand)
        if slot is not None:
            self.roles[slot] = role

    def reader(self, operand: object, type_name: str) -> Read:
        """The reader of an operand's bits as `type_name`: arrays of [n, 32], or [1, 1] where all lanes agree."""
        if isinstance(operand, Slot):
            self.reads.add(operand.index)
            if not self._agrees(operand, type_name):
                self.fail(f"register '{operand.name}' of type {operand.type} is no operand of type {type_name}")
            return self.copier(operand, type_name)
        if isinstance(operand, Negated) and type_name == "pred":
            read = self.reader(operand.register, "pred")
            return lambda batch: ~read(batch)
        return self._constant_reader(operand, type_name)

    def _agrees(self, register: Slot, type_name: str) -> bool:
        """Whether a register's type goes with an operand's; only a few instructions take a wider one."""
        have, want = TYPE_BITS[register.type], type_bits(type_name)
        takes_wider = (
            self.instruction.opcode in _WIDENING and want > 1 and (register.type[0] != "f" or type_name[0] == "b")
        )
        return agree(register.type, type_name) and (have == want or takes_wider)

    def copier(self, operand: Slot, type_name: str) -> Read:
        """The reader of a register's bits, without noting that the instruction reads it."""
        slot, have, want = operand.index, TYPE_BITS[operand.type], type_bits(type_name)
        if have < want or (want == 1) != (have == 1):
            self.fail(f"register '{operand.name}' of type {operand.type} is no operand of type {type_name}")
        return _register_reader(slot, have, want)

    def _constant_reader(self, operand: object, type_name: str) -> Read:
        if isinstance(operand, Immediate):
            constant = self._immediate(operand, type_name)
            return lambda batch: constant
        if isinstance(operand, Special):
            try:
                return special_reader(operand, type_name, self.instruction.opcode)
            except UnknownInstruction as error:
                self.fail(str(error))
        if type_bits(type_name) == 1:
            self.fail("a predicate is expected")
        if isinstance(operand, FunctionAddress):
            constant = np.full((1, 1), operand.address, WORDS[type_bits(type_name) // 8])
            return lambda batch: constant
        if isinstance(operand, Location):
            return self.address_of(operand, type_name)
        self.fail(f"an operand of type {type_name} is expected")

    def _immediate(self, operand: Immediate, type_name: str) -> np.ndarray:
        bits = type_bits(type_name)
        if bits == 1:
            return np.full((1, 1), bool(operand.bits))
        if not agree("s64" if operand.kind == "int" else operand.kind, type_name):
            self.fail(f"a constant of type {operand.kind} is no operand of type {type_name}")
        if operand.kind != "int" and TYPE_BITS[operand.kind] != bits:
            if type_name not in ("f32", "f64"):
                self.fail(f"a constant of type {operand.kind} is no operand of type {type_name}")
            with np.errstate(over="ignore"):
                return np.full((1, 1), operand.value, f"f{bits // 8}").view(WORDS[bits // 8])
        if bits == 128:
            low, high = operand.bits & ~(-1 << 64), -(operand.value < 0)
            return np.array([[[low, high & ~(-1 << 64)]]], np.uint64)
        value = int(operand.value) if operand.kind == "int" else operand.bits
        return np.full((1, 1), value & ~(-1 << bits), WORDS[bits // 8])

    def address_of(self, location: Location, type_name: str) -> Read:
        """The reader of the address of a variable in its own space."""
        word = WORDS[type_bits(type_name) // 8]
        if location.space == "global":
            return lambda batch: np.full((1, 1), batch.launch.module_base + location.offset, word)
        constant = np.full((1, 1), _STARTS[location.space] + location.offset, word)
        return lambda batch: constant

    def writer(self, operand: object, type_name: str) -> Write:
        """The writer of a result of type `type_name`: a wider register is extended by the type's sign."""
        if isinstance(operand, Sink):
            return lambda batch, values: None
        if not isinstance(operand, Slot):
            self.fail("a register is expected for the result")
        slot, have, want = operand.index, TYPE_BITS[operand.type], type_bits(type_name)
        self.writes.add(slot)
        if have < want or not self._agrees(operand, type_name):
            self.fail(f"register '{operand.name}' of type {operand.type} is no result of type {type_name}")
        if have != want and have == 128:
            self.fail(f"register '{operand.name}' of 128 bits is no result of type {type_name}")
        return _register_writer(slot, have, want, type_name.startswith("s"))


@cache
def _register_reader(slot: int, have: int, want: int) -> Read:
    """The reader of the low `want` bits of a register of `have` bits."""
    if have == want:
        return lambda batch: batch.registers[slot] if batch.rows is None else batch.registers[slot][batch.rows]
    word = WORDS[want // 8]
    if have == 128:
        return lambda batch: batch.select(batch.registers[slot])[..., 0].astype(word)
    return lambda batch: batch.select(batch.registers[slot]).astype(word)


@cache
def _register_writer(slot: int, have: int, want: int, is_signed: bool) -> Write:
    """The writer of results of `want` bits to a register of `have` bits, extended by the sign or by zeros."""
    if have == want or not is_signed:

        def write(batch: Batch, values: np.ndarray) -> None:
            if batch.covers and batch.rows is None:  # most writes, without a further call
                batch.registers[slot][...] = values
            else:
                batch.write(batch.registers[slot], values)

        return write
    narrow, wide, word = np.dtype(f"i{want // 8}"), np.dtype(f"i{have // 8}"), WORDS[have // 8]
    return lambda batch, values: batch.write(batch.registers[slot], values.view(narrow).astype(wide).view(word))
