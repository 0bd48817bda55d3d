"""Reads a PTX module.

In: the text of a module as LLVM, nvcc, Triton or a person wrote it. Out: a `syntax.ModuleTree`. What instructions mean
is not known here: an unknown opcode is found by who compiles the instructions. Source: PTX ISA §4, §5, §11.
"""

from ptxsim.parsing import constants, debug, declarations
from ptxsim.parsing.debug import Sources
from ptxsim.parsing.lexer import DIRECTIVE, END, NUMBER, WORD, Cursor
from ptxsim.parsing.statements import BodyReader, skip_pragma
from ptxsim.parsing.syntax import Function, ModuleTree, Variable
from ptxsim.parsing.target import Target

#: What is modelled of `.version` (the first number) and `.address_size`.
_VERSIONS = (8, 9)
_ADDRESS_BITS = 64
_LINKAGES = frozenset({".visible", ".extern", ".weak", ".common"})
_MODULE_SPACES = frozenset({".global", ".const", ".shared"})

#: The directives between a function's parameters and its body, with how many numbers they take.
_NUMBERS = {
    "reqntid": (1, 3),
    "maxntid": (1, 3),
    "reqnctapercluster": (1, 3),
    "maxnreg": (1, 1),
    "minnctapersm": (1, 1),
    "maxnctapersm": (1, 1),
    "maxclusterrank": (1, 1),
    "abi_preserve": (1, 1),
    "abi_preserve_control": (1, 1),
    "explicitcluster": (0, 0),
    "blocksareclusters": (0, 0),
    "noreturn": (0, 0),
}


def parse(text: str) -> ModuleTree:
    """The module that the text is.

    Raises: PtxError with line and column for text that is no PTX, and for declarations that are not simulated.
    """
    return _ModuleReader(Cursor(text)).module()


class _ModuleReader:
    """Reads the directives of a module, one after the other."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._sources = Sources(cursor)
        self._variables: dict[str, Variable] = {}
        self._functions: dict[str, Function] = {}
        self._aliases: list[tuple[str, str, int]] = []

    def module(self) -> ModuleTree:
        cursor = self._cursor
        version = self._version()
        target = self._target()
        if cursor.accept(".address_size"):
            address_size = constants.integer(cursor, "an address size")
            if address_size != _ADDRESS_BITS:
                message = f"addresses of {_ADDRESS_BITS} bits are modelled, not of {address_size}"
                raise cursor.error(message, cursor.position - 1)
        while cursor.kind != END:
            self._directive()
        for alias, name, position in self._aliases:
            if name not in self._functions:
                raise cursor.error(f"'.alias' of '{name}', which is no function", position)
            self._functions[alias] = self._functions[name]
        return ModuleTree(version, target, _ADDRESS_BITS, self._variables, self._functions)

    def _version(self) -> tuple[int, int]:
        cursor = self._cursor
        if not cursor.accept(".version"):
            raise cursor.error(f"a module starts with '.version', not with {cursor.shown()}")
        position = cursor.position
        major, _, minor = cursor.take(NUMBER, "a version such as 8.5").partition(".")
        if not (major.isdigit() and minor.isdigit() and len(major + minor) < 6):
            raise cursor.error(f"expected a version such as 8.5, found '{cursor.texts[position]}'", position)
        if int(major) not in _VERSIONS:
            versions = " and ".join(f"{each}.x" for each in _VERSIONS)
            raise cursor.error(f"PTX {versions} are modelled, not {major}.{minor}", position)
        return int(major), int(minor)

    def _target(self) -> tuple[str, ...]:
        cursor = self._cursor
        cursor.expect(".target")
        position = cursor.position
        words = [cursor.take(WORD, "a target such as sm_90a")]
        if not Target.names(words[0]):
            raise cursor.error(f"expected a target such as sm_90a, found '{words[0][:60]}'", position)
        while cursor.accept(","):
            words.append(cursor.take(WORD, "a word of the target"))
        return tuple(words)

    def _directive(self) -> None:
        cursor = self._cursor
        linkage = ""
        if cursor.kind == DIRECTIVE and cursor.text in _LINKAGES:
            linkage = cursor.text[1:]
            cursor.position += 1
        text = cursor.text if cursor.kind == DIRECTIVE else ""
        if text in (".entry", ".func"):
            self._function(linkage)
        elif text in _MODULE_SPACES:
            for each in declarations.variables(cursor, linkage):
                self._declare(each)
        elif text == ".tex":
            raise cursor.error("textures and surfaces ('.tex') are not simulated")
        elif linkage:
            raise cursor.error(f"expected a function or a variable after '.{linkage}', found {cursor.shown()}")
        elif text == ".file":
            debug.skip_file(cursor)
        elif text == ".section":
            debug.skip_section(cursor)
        elif text == ".pragma":
            skip_pragma(cursor)
        elif text == ".loc":
            self._sources.location(cursor)
        elif text == ".alias":
            self._alias()
        else:
            raise cursor.error(f"expected a directive of a module, found {cursor.shown()}")

    def _declare(self, variable: Variable) -> None:
        known = self._variables.get(variable.name)
        position = self._cursor.position - 1
        if known is not None and "extern" not in (known.linkage, variable.linkage):
            raise self._cursor.error(f"'{variable.name}' is declared twice", position)
        if variable.name in self._functions:
            raise self._cursor.error(f"'{variable.name}' is a function and a variable", position)
        if known is None or known.linkage == "extern":
            self._variables[variable.name] = variable

    def _alias(self) -> None:
        cursor = self._cursor
        cursor.expect(".alias")
        alias = declarations.identifier(cursor, "the name of a function")
        cursor.expect(",")
        position = cursor.position
        self._aliases.append((alias, declarations.identifier(cursor, "the name of a function"), position))
        cursor.expect(";")

    def _function(self, linkage: str) -> None:
        cursor = self._cursor
        is_entry = cursor.text == ".entry"
        cursor.position += 1
        if cursor.accept(".attribute"):
            declarations.skip_attribute(cursor)
        returns = declarations.parameters(cursor) if cursor.text == "(" and not is_entry else ()
        position = cursor.position
        line, _ = cursor.place()
        name = declarations.identifier(cursor, "the name of a function")
        parameters = declarations.parameters(cursor) if cursor.text == "(" else ()
        directives = self._directives()
        body = None
        if not cursor.accept(";"):
            body = BodyReader(cursor, self._sources, (*returns, *parameters)).block()
        known = self._functions.get(name)
        is_defined = known is not None and known.body is not None
        if (is_defined and body is not None) or name in self._variables:
            raise cursor.error(f"'{name}' is declared twice", position)
        if known is None or known.body is None:
            self._functions[name] = Function(
                name, is_entry, parameters, returns, directives, body, line, linkage or (known.linkage if known else "")
            )

    def _directives(self) -> dict[str, tuple[int, ...]]:
        """Read performance directives; the extents of CTAs and clusters are filled up to three."""
        cursor = self._cursor
        directives: dict[str, tuple[int, ...]] = {}
        while cursor.kind == DIRECTIVE:
            name, position = cursor.text[1:], cursor.position
            if name == "pragma":
                skip_pragma(cursor)
                continue
            if name not in _NUMBERS:
                raise cursor.error(f"unknown directive '.{name[:60]}' of a function")
            cursor.position += 1
            fewest, most = _NUMBERS[name]
            numbers = []
            while len(numbers) < fewest or (numbers and len(numbers) < most and cursor.accept(",")):
                numbers.append(constants.integer(cursor, f"'.{name}'"))
            if any(not 0 < each < 1 << 32 for each in numbers):
                raise cursor.error(f"'.{name}' takes positive numbers", position)
            directives[name] = (*numbers, *[1] * (most - len(numbers)))
        return directives
