"""Flattens the body of one function: instructions in a row, with places instead of names.

In: a function, and the places of what it may name outside of itself. Out: `Instruction`s whose operands are resolved.
Labels count for the whole of their scope, registers and variables from their declaration on, each until its `}`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ptxsim.errors import PtxError
from ptxsim.linking.layout import Layout
from ptxsim.parsing.scope import register_range
from ptxsim.parsing.syntax import (
    Address,
    Arguments,
    Block,
    BranchTable,
    BranchTarget,
    Function,
    FunctionAddress,
    FunctionTable,
    Guard,
    Instruction,
    Label,
    Location,
    Negated,
    Operand,
    Pair,
    Prototype,
    Register,
    Registers,
    Resolved,
    Slot,
    Symbol,
    Targets,
    TensorAddress,
    Variable,
    Vector,
)

_COMPONENTS = "xyzw"


@dataclass
class Places:
    """Where things of a kernel are, as far as they are known: grows with each function that is resolved.

    `variables`, `functions` and their `declarations` are the module's. `layouts` has one layout for each space.
    """

    variables: dict[str, Location]
    functions: dict[str, FunctionAddress]
    declarations: dict[str, Function]
    layouts: dict[str, Layout]
    slots: list[Slot] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)

    def slot(self, name: str, type_name: str) -> Slot:
        """A new register."""
        slot = Slot(len(self.slots), type_name, name)
        self.slots.append(slot)
        return slot


@dataclass
class _Scope:
    """The names of one `{}`; a value of `names` is a place, or registers that get theirs when they are used."""

    names: dict[str, Resolved | Registers | Vector] = field(default_factory=dict)
    ranges: dict[str, Registers] = field(default_factory=dict)


class Resolver:
    """Resolves one function; `parameters` and `returns` get their places at once."""

    def __init__(self, function: Function, places: Places) -> None:
        self._places = places
        self._function = function
        self._scopes = [_Scope()]
        self._line = function.line
        self._column = 1
        self.returns = tuple(self._parameter(each) for each in function.returns)
        self.parameters = tuple(self._parameter(each) for each in function.parameters)

    def _parameter(self, parameter: Variable) -> tuple[Slot, ...] | Location:
        names = self._scopes[0].names
        if parameter.space == "reg":
            registers = Registers(parameter.name, None, parameter.type, parameter.lanes, parameter.line)
            place = self._registers(parameter.name, registers)
            names[parameter.name] = place
            return cast("tuple[Slot, ...]", place.items) if isinstance(place, Vector) else (place,)
        space = "param::entry" if self._function.is_entry else "param::func"
        names[parameter.name] = location = self._places.layouts[space].place(parameter)
        return location

    def body(self) -> None:
        """Append the function's instructions, with a `ret` at the end."""
        block = self._function.body
        if block is None:
            return
        self._block(block)
        self._places.instructions.append(Instruction("ret", (), (), None, self._line, self._column))

    def _block(self, block: Block) -> None:
        scope = _Scope()
        self._scopes.append(scope)
        self._labels(block, scope, len(self._places.instructions))
        for statement in block.statements:
            if isinstance(statement, Instruction):
                self._places.instructions.append(self._instruction(statement))
            elif isinstance(statement, Block):
                self._block(statement)
            elif isinstance(statement, Registers):
                (scope.names if statement.count is None else scope.ranges)[statement.name] = statement
            elif isinstance(statement, Variable):
                scope.names[statement.name] = self._variable(statement)
        self._scopes.pop()

    def _labels(self, block: Block, scope: _Scope, index: int) -> None:
        """Enter the labels, tables and prototypes of a scope, whose first instruction is number `index`."""
        tables: list[Targets] = []
        for statement in block.statements:
            if isinstance(statement, Instruction):
                index += 1
            elif isinstance(statement, Block):
                index += _size(statement)
            elif isinstance(statement, Label | Targets | Prototype):
                if statement.name in scope.names:
                    raise PtxError(f"the label '{statement.name}' is defined twice in one scope", statement.line, 1)
                if isinstance(statement, Targets):
                    tables.append(statement)
                scope.names[statement.name] = (
                    statement if isinstance(statement, Prototype) else BranchTarget(index, statement.name)
                )
        for table in tables:
            self._line, self._column = table.line, 1
            entries = [self._named(name) for name in table.names]
            wanted = BranchTarget if table.kind == "branch" else FunctionAddress
            for name, entry in zip(table.names, entries, strict=True):
                if not isinstance(entry, wanted):
                    raise self._error(f"'{name}' is no {'label' if table.kind == 'branch' else 'function'}")
            if table.kind == "branch":
                indices = tuple(each.index for each in entries if isinstance(each, BranchTarget))
                scope.names[table.name] = BranchTable(indices, table.name)
            else:
                functions = tuple(each for each in entries if isinstance(each, FunctionAddress))
                scope.names[table.name] = FunctionTable(functions, table.name)

    def _variable(self, variable: Variable) -> Location:
        space = "param::func" if variable.space == "param" else variable.space
        return self._places.layouts[space].place(variable)

    def _instruction(self, instruction: Instruction) -> Instruction:
        self._line, self._column = instruction.line, instruction.column
        guard = instruction.guard
        if guard is not None:
            guard = Guard(self._slot(guard.register), guard.negated)
        operands = tuple([self._operand(each) for each in instruction.operands])
        if instruction.opcode == "call":
            self._check_call(operands)
        return Instruction(
            instruction.opcode,
            instruction.modifiers,
            operands,
            guard,
            instruction.line,
            instruction.column,
            instruction.source,
        )

    def _check_call(self, operands: tuple[Operand, ...]) -> None:
        """Check that a call has as many arguments and results as its function or its prototype."""
        returns, callee, arguments, *further = operands
        called = further[0] if further else callee
        if isinstance(called, FunctionAddress):
            called = self._places.declarations[called.name]
        elif isinstance(called, FunctionTable):
            called = self._places.declarations[called.functions[0].name]
        if not isinstance(called, Function | Prototype):
            raise self._error("a call through a register ends with its targets or its prototype")
        for what, given, wanted in (("results", returns, called.returns), ("arguments", arguments, called.parameters)):
            if isinstance(given, Arguments) and len(given.items) != len(wanted):
                raise self._error(f"the call has {len(given.items)} {what}, '{called.name}' has {len(wanted)}")

    def _operand(self, operand: Operand) -> Operand:
        resolver = _RESOLVERS.get(type(operand))
        return operand if resolver is None else resolver(self, operand)

    def _register(self, register: Register) -> Slot | Vector:
        """A register's slot, or the slots of all elements of a vector register."""
        found = self._named(register.name)
        if register.component is None and isinstance(found, Slot | Vector):
            return found
        lane = _COMPONENTS.index(register.component or "x")
        if not isinstance(found, Vector) or lane >= len(found.items):
            raise self._error(f"the register '{register.name}' has no element '.{register.component}'")
        return cast("Slot", found.items[lane])

    def _slot(self, register: Register | Slot) -> Slot:
        found = self._operand(register)
        if not isinstance(found, Slot):
            raise self._error("a vector register where one register is needed")
        return found

    def _symbol(self, symbol: Symbol) -> Operand:
        found = self._named(symbol.name)
        if not symbol.offset:
            return found
        if not isinstance(found, Location):
            raise self._error(f"'{symbol.name}' is no variable, and an offset from it means nothing")
        return replace(found, offset=found.offset + symbol.offset)

    def _base(self, operand: Operand) -> "Slot | Location":
        found = self._operand(operand)
        if not isinstance(found, Slot | Location):
            raise self._error("an address is a register, a variable or a number")
        return found

    def _address(self, address: Address) -> Address:
        if isinstance(address.base, Register | Symbol):
            return Address(self._base(address.base), address.offset)
        return address

    def _tensor_address(self, address: TensorAddress) -> TensorAddress:
        return TensorAddress(
            self._base(address.base),
            tuple(self._operand(each) for each in address.coordinates),
            address.offset,
            tuple(self._operand(each) for each in address.extra),
        )

    def _pair(self, pair: Pair) -> Pair:
        first, second = (self._slot(each) if isinstance(each, Register) else each for each in (pair.first, pair.second))
        return Pair(first, second)

    def _named(self, name: str) -> Resolved | Vector:
        """The meaning of the name here.

        Raises: PtxError at the current instruction where it stands for nothing.
        """
        for scope in reversed(self._scopes):
            found = scope.names.get(name)
            if found is None and scope.ranges:
                found = register_range(scope.ranges, name)
            if found is not None:
                if isinstance(found, Registers):
                    found = scope.names[name] = self._registers(name, found)
                return found
        known = self._places.variables.get(name) or self._places.functions.get(name)
        if known is None:
            raise self._error(f"'{name}' is not declared here, or '.extern' and defined nowhere")
        return known

    def _registers(self, name: str, registers: Registers) -> Slot | Vector:
        if registers.lanes == 1:
            return self._places.slot(name, registers.type)
        lanes = (f"{name}.{_COMPONENTS[lane] if lane < 4 else lane}" for lane in range(registers.lanes))
        return Vector(tuple(self._places.slot(each, registers.type) for each in lanes))

    def _error(self, message: str) -> PtxError:
        return PtxError(message, self._line, self._column)


_RESOLVERS: dict[type, Callable[[Resolver, Any], Operand]] = {
    Register: Resolver._register,
    Symbol: Resolver._symbol,
    Address: Resolver._address,
    TensorAddress: Resolver._tensor_address,
    Pair: Resolver._pair,
    Negated: lambda self, operand: Negated(self._slot(operand.register)),
    Vector: lambda self, operand: Vector(tuple([self._operand(each) for each in operand.items])),
    Arguments: lambda self, operand: Arguments(tuple([self._operand(each) for each in operand.items])),
}


def _size(block: Block) -> int:
    """The number of instructions of the block."""
    count, blocks = 0, [block]
    while blocks:
        for statement in blocks.pop().statements:
            if isinstance(statement, Instruction):
                count += 1
            elif isinstance(statement, Block):
                blocks.append(statement)
    return count
