"""The LLVM IR of a program in units that are compiled each by itself: one for each kernel, and one for what calls them.

In: LLVM IR as `llvm_ir` gives it, which LLVM has printed. Out: the IR of the units. A function that can be seen from
outside is defined in one unit, and declared where others call it; one that cannot is in each unit that calls it.

A kernel that is the same in two programs has the same text, whatever stands beside it there: LLVM reads each unit and
prints it again, which numbers attributes and metadata anew, and would refuse a unit that lacked something.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.runtime.function_names import KERNEL_PREFIX
from tinyc.runtime.jit import printed_ir

#: The definition of a function, which ends at the first line that is a brace, or another line of a module.
_ENTITY = re.compile(r"^define .*?^\}$|^[^\n]+$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'@("[^"]*"|[\w.$-]+)')
_LOCAL = re.compile(r"(define|@\S+ =) (internal|private) |declare ")


@dataclass(frozen=True)
class _Entity:
    """A function or a constant: its text, and the names of others that stand in it."""

    text: str
    needs: tuple[str, ...]
    is_local: bool

    @property
    def declaration(self) -> str:
        """What another unit has in place of a function."""
        return self.text.partition("\n")[0].replace("define ", "declare ", 1).removesuffix("{")


def units_of(llvm_ir: str) -> dict[str, str]:
    """The units of a program by name: `kernel.<name>` for a kernel, and `host` for what calls them, the last one.

    Raises:
        InternalError: LLVM does not read what was printed.
    """
    entities: dict[str, _Entity] = {}
    of_all: list[str] = []
    for text in _ENTITY.findall(llvm_ir):
        if text.startswith(("define ", "declare ", "@")):
            name, *needs = dict.fromkeys(_NAME.findall(text))
            entities[name] = _Entity(text, tuple(needs), _LOCAL.match(text) is not None)
        else:
            of_all.append(text)
    units: dict[str, list[str]] = {}
    host: list[str] = []
    for name in (name for name, each in entities.items() if not each.is_local):
        bare = name.strip('"')
        (units.setdefault(bare, []) if bare.startswith(KERNEL_PREFIX) else host).append(name)
    units["host"] = host
    return {name: printed_ir("\n".join([*of_all, *_texts(entities, roots)])) for name, roots in units.items()}


def _texts(entities: Mapping[str, _Entity], roots: Sequence[str]) -> Iterator[str]:
    """Yield what a unit has of each entity: all of `roots`, and of what they need."""
    found, pending = set[str](), [*roots]
    while pending:
        name = pending.pop()
        if name in entities and name not in found:
            found.add(name)
            pending += entities[name].needs if name in roots or entities[name].is_local else ()
    for name, each in entities.items():
        if name in found:
            yield each.text if name in roots or each.is_local else each.declaration
