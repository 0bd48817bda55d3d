"""What a C library's functions and types, and the fields of its Param-Block, are called.

In: a program, and the prefix that the user wants. Out: C identifiers, each of which no other thing has.
"""

import functools
import re
from dataclasses import dataclass

from tinyc.codegen.identifiers import legal_identifier
from tinyc.diagnostics import TinycError
from tinyc.runtime.program import Buffer, Program
from tinyc.vocabulary.run_key import RUN_KEY

#: Words of C and C++ that no field may be called.
_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename union unix linux unsigned using virtual void
    volatile wchar_t while xor xor_eq""".split()  # noqa: SIM905
)
#: Macros of the headers that a library includes.
_MACRO = re.compile(
    r"NULL|EOF|BUFSIZ|CLOCKS_PER_SEC|(EXIT|L|SCHED|SEEK|TIME)_\w+|assert|errno|offsetof|sched_priority|std(in|out|err)"
    r"|unreachable|va_\w+|\w+_(MIN|MAX|WIDTH|C)"
)
_PREFIX = re.compile(r"[a-z]\w*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class CInterface:
    """The names of a library for `program`: what the outside sees begins with `prefix`.

    Raises:
        TinycError: `InvalidOption`: the prefix is none.
    """

    program: Program
    prefix: str

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix) or self.prefix in _KEYWORDS:
            message = (
                f"the prefix is {self.prefix!r}, no identifier of C; write letters, digits and '_', a letter first"
            )
            raise TinycError("InvalidOption", message)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that are sizes."""
        return tuple(name for name in self.program.symbols if name != RUN_KEY)

    @property
    def is_random(self) -> bool:
        """Whether the program has random numbers, which may be new in each run."""
        return RUN_KEY in self.program.symbols

    @property
    def boundary(self) -> tuple[tuple[str, Buffer], ...]:
        """The inputs, then the outputs: what the user calls each, and its buffer."""
        program = self.program
        buffers = (*program.of_kind("input"), *program.of_kind("output"))
        return tuple(zip((*program.inputs, *program.outputs), buffers, strict=True))

    @functools.cached_property
    def fields(self) -> dict[str, str]:
        """The fields of the Param-Block: those of the buffers by the buffers' names, those of the symbols by theirs."""
        wanted = [(buffer.name, name) for name, buffer in self.boundary] + [
            (name, name) for name in self.program.symbols
        ]
        found: dict[str, str] = {}
        for key, name in wanted:
            text = "run_key" if name == RUN_KEY else name
            macros = {text} if _MACRO.fullmatch(text) else set[str]()
            found[key] = legal_identifier(text, {*_KEYWORDS, *macros, *found.values()})
        return found

    def upper(self, name: str) -> str:
        """The name of a constant."""
        return f"{self.prefix}_{name}".upper()
