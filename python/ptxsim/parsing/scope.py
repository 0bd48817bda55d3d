"""Which names of a function's body are registers, by `{}` scope, while the body is read.

The parser declares what it reads and asks what a word of an operand means; the linker resolves the rest.
"""

from ptxsim.parsing.syntax import Register, Registers

#: How many decimal digits the number of a register of a range has at most.
_MOST_DIGITS = 10


class Scopes:
    """The open scopes, the innermost first: in each the names, and the ranges of registers by their prefixes."""

    def __init__(self) -> None:
        self._open: list[tuple[dict[str, Register | None], dict[str, Registers]]] = []

    def open(self) -> None:
        """Enter a scope."""
        self._open.insert(0, ({}, {}))

    def close(self) -> None:
        """Leave the innermost scope."""
        self._open.pop(0)

    def declare(self, registers: Registers) -> bool:
        """Add registers to the innermost scope; return whether the name was free."""
        if registers.count is None:
            return self._add(registers.name, Register(registers.name))
        _, ranges = self._open[0]
        is_free = registers.name not in ranges
        ranges[registers.name] = registers
        return is_free

    def hide(self, name: str) -> bool:
        """Declare that the name is not a register in the innermost scope; return whether it was free."""
        return self._add(name, None)

    def _add(self, name: str, register: Register | None) -> bool:
        names, _ = self._open[0]
        is_free = name not in names
        names[name] = register
        return is_free

    def find(self, name: str) -> Register | None:
        """The register of this name in the nearest scope that declares the name, if it is one."""
        for names, ranges in self._open:
            if name in names:
                return names[name]
            if ranges and register_range(ranges, name):
                return names.setdefault(name, Register(name))
        return None


def register_range(ranges: dict[str, Registers], name: str) -> Registers | None:
    """The range (by prefix) whose prefix and a number below its count, without leading zeros, make the name."""
    start = len(name)
    while start > 1 and name[start - 1] in "0123456789" and len(name) - start < _MOST_DIGITS:
        start -= 1
        found = ranges.get(name[:start])
        if found is None or (name[start] == "0" and start < len(name) - 1):
            continue
        if int(name[start:]) < (found.count or 0):
            return found
    return None
