"""Finds what a function refers to: module variables, other functions, and the variables declared inside of it.

The linker asks this first, to know which functions a kernel needs and how large its spaces are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ptxsim.parsing.syntax import (
    Address,
    Arguments,
    Block,
    Function,
    Instruction,
    Operand,
    Symbol,
    Targets,
    TensorAddress,
    Variable,
    Vector,
)


@dataclass(frozen=True)
class References:
    """The names that a function uses without regard to scopes, in order, and the variables of its body.

    `calls_pointers` says whether it calls a function through a register.
    """

    names: tuple[str, ...]
    variables: tuple[Variable, ...]
    calls_pointers: bool


def references(function: Function) -> References:
    """The names that the function refers to."""
    names: dict[str, None] = {}
    variables: list[Variable] = []
    calls_pointers = False
    blocks = [function.body] if function.body else []
    while blocks:
        for statement in blocks.pop().statements:
            if isinstance(statement, Instruction):
                for operand in statement.operands:
                    names.update(dict.fromkeys(_names(operand)))
                calls_pointers |= statement.opcode == "call" and not isinstance(statement.operands[1], Symbol)
            elif isinstance(statement, Targets) and statement.kind == "call":
                names.update(dict.fromkeys(statement.names))
            elif isinstance(statement, Variable):
                variables.append(statement)
                names.update(dict.fromkeys(each.symbol for each in statement.relocations))
            elif isinstance(statement, Block):
                blocks.append(statement)
    return References(tuple(names), tuple(variables), calls_pointers)


def in_cycles(calls: dict[str, set[str]]) -> set[str]:
    """The functions on cycles of calls (and those between two cycles)."""
    callers: dict[str, set[str]] = {name: set() for name in calls}
    for name, callees in calls.items():
        for callee in callees:
            callers[callee].add(name)
    rest = _peeled(calls, callers, set(calls))
    return _peeled(callers, calls, rest)


def _peeled(successors: dict[str, set[str]], predecessors: dict[str, set[str]], within: set[str]) -> set[str]:
    """`within` less those, again and again, that have no successor in it."""
    rest = set(within)
    left = {name: len(successors[name] & rest) for name in rest}
    ends = [name for name, count in left.items() if not count]
    while ends:
        end = ends.pop()
        rest.discard(end)
        for name in predecessors[end] & rest:
            left[name] -= 1
            if not left[name]:
                ends.append(name)
    return rest


def _names(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address | TensorAddress):
        yield from _names(operand.base)
    elif isinstance(operand, Vector | Arguments):
        for item in operand.items:
            yield from _names(item)
