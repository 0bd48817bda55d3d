"""Reads the body of a function: instructions, labels, declarations and nested scopes.

In: a cursor at the body's `{`. Out: a `syntax.Block`. Source: PTX ISA §4.3 (statements), §7 (calls), §9.3 (predicates),
§11.3 (control-flow directives).
"""

from functools import lru_cache

from ptxsim.parsing import debug, declarations
from ptxsim.parsing.debug import Sources
from ptxsim.parsing.lexer import DIRECTIVE, END, STRING, WORD, Cursor
from ptxsim.parsing.operands import call_operands, operands, register
from ptxsim.parsing.scope import Scopes
from ptxsim.parsing.syntax import (
    Block,
    Guard,
    Instruction,
    Label,
    Prototype,
    Registers,
    Source,
    Statement,
    Targets,
    Variable,
)

_DEEPEST = 100
_VARIABLE_SPACES = frozenset({".shared", ".local", ".global", ".const", ".param"})


class BodyReader:
    """Reads one function's body; the registers among its parameters are in scope."""

    def __init__(self, cursor: Cursor, sources: Sources, parameters: tuple[Variable, ...]) -> None:
        self._cursor = cursor
        self._sources = sources
        self._source: Source | None = None
        self._scopes = Scopes()
        self._scopes.open()
        for each in parameters:
            self._parameter(each)

    def _parameter(self, parameter: Variable) -> None:
        if parameter.space == "reg":
            named = Registers(parameter.name, None, parameter.type, parameter.lanes, parameter.line)
            is_free = self._scopes.declare(named)
        else:
            is_free = self._scopes.hide(parameter.name)
        if not is_free and parameter.name != "_":
            raise self._cursor.error(f"the parameter '{parameter.name}' is declared twice")

    def block(self, depth: int = 0) -> Block:
        """Read `{ … }`."""
        cursor = self._cursor
        if depth == _DEEPEST:
            raise cursor.error(f"scopes nest at most {_DEEPEST} deep")
        line, _ = cursor.place()
        cursor.expect("{")
        self._scopes.open()
        statements: list[Statement] = []
        while not cursor.accept("}"):
            if cursor.text == "{" and cursor.kind != STRING:
                statements.append(self.block(depth + 1))
            elif cursor.kind == DIRECTIVE:
                statements.extend(self._directive())
            elif cursor.kind == WORD and cursor.texts[cursor.position + 1] == ":":
                statements.append(self._labelled())
            elif cursor.kind == END:
                raise cursor.error(f"the text ends inside the '{{' of line {line}")
            else:
                statements.append(self._instruction())
        self._scopes.close()
        return Block(tuple(statements), line)

    def _instruction(self) -> Instruction:
        cursor = self._cursor
        line, column = cursor.place()
        guard = None
        if cursor.accept("@"):
            is_negated = cursor.accept("!")
            guard = Guard(register(cursor, self._scopes), is_negated)
        name = cursor.take(WORD, "an instruction")
        while cursor.kinds[cursor.position] == DIRECTIVE:
            name += cursor.text
            cursor.position += 1
        opcode, modifiers = _words(name)
        read = (call_operands if opcode == "call" else operands)(cursor, self._scopes)
        if not cursor.accept(";"):
            raise cursor.error(f"expected ',' or ';' in '{opcode}', found {cursor.shown()}")
        return Instruction(opcode, modifiers, read, guard, line, column, self._source)

    def _directive(self) -> list[Statement]:
        cursor = self._cursor
        text = cursor.text
        if text == ".loc":
            self._source = self._sources.location(cursor)
        elif text == ".reg":
            return self._declared(declarations.registers(cursor))
        elif text in _VARIABLE_SPACES:
            return self._declared(declarations.variables(cursor, ""))
        elif text == ".extern":
            cursor.position += 1
            return self._declared(declarations.variables(cursor, "extern"))
        elif text == ".pragma":
            skip_pragma(cursor)
        elif text == ".file":
            debug.skip_file(cursor)
        elif text == ".section":
            debug.skip_section(cursor)
        else:
            raise cursor.error(f"unknown directive '{text[:60]}' in the body of a function")
        return []

    def _declared(self, declared: list[Registers] | list[Variable]) -> list[Statement]:
        for each in declared:
            is_registers = isinstance(each, Registers)
            if not (self._scopes.declare(each) if is_registers else self._scopes.hide(each.name)):
                raise self._cursor.error(f"'{each.name}' is declared twice in one scope", self._cursor.position - 1)
        return list(declared)

    def _labelled(self) -> Statement:
        """Read `name:`, and the table or prototype that it may name."""
        cursor = self._cursor
        line, _ = cursor.place()
        name = declarations.identifier(cursor, "a label")
        cursor.expect(":")
        if cursor.text in (".branchtargets", ".calltargets"):
            kind = "branch" if cursor.text == ".branchtargets" else "call"
            return self._targets(name, kind, line)
        if cursor.text == ".callprototype":
            return self._prototype(name, line)
        return Label(name, line)

    def _targets(self, name: str, kind: str, line: int) -> Targets:
        cursor = self._cursor
        cursor.position += 1
        names: list[str] = []
        while not names or cursor.accept(","):
            names.append(declarations.identifier(cursor, "a label" if kind == "branch" else "a function"))
        cursor.expect(";")
        return Targets(name, "branch" if kind == "branch" else "call", tuple(names), line)

    def _prototype(self, name: str, line: int) -> Prototype:
        cursor = self._cursor
        cursor.position += 1
        returns = declarations.parameters(cursor) if cursor.text == "(" else ()
        if not cursor.accept("_"):
            declarations.identifier(cursor, "'_'")
        parameters = declarations.parameters(cursor) if cursor.text == "(" else ()
        while cursor.text in (".noreturn", ".abi_preserve", ".abi_preserve_control"):
            cursor.position += 1
            if cursor.text != ";" and cursor.kind != DIRECTIVE:
                cursor.position += 1
        cursor.expect(";")
        return Prototype(name, returns, parameters, line)


@lru_cache(1024)
def _words(name: str) -> tuple[str, tuple[str, ...]]:
    """The opcode and the modifiers of an instruction's name; most names occur again and again."""
    opcode, *modifiers = name.split(".")
    return opcode, tuple(modifiers)


def skip_pragma(cursor: Cursor) -> None:
    """Go past `.pragma "…", "…";`: pragmas are advice to an optimiser."""
    cursor.expect(".pragma")
    cursor.take(STRING, "a string")
    while cursor.accept(","):
        cursor.take(STRING, "a string")
    cursor.expect(";")
