"""What the shared addresses of findings are called: the variable that an address is in or behind, and how far.

In: the variables of a kernel, and how much dynamic shared memory its launch gives. Out: text.
"""

from dataclasses import dataclass

from ptxsim.linking.code import Code
from ptxsim.memory.windows import SHARED_START


@dataclass(frozen=True)
class _Named:
    """A variable at addresses from `start` on."""

    name: str
    start: int
    size_bytes: int


@dataclass(frozen=True)
class SharedNames:
    """The shared variables of a kernel by address; `dynamic` is the external array, None where there is none."""

    variables: tuple[_Named, ...]
    dynamic: _Named | None

    @classmethod
    def of(cls, code: Code, dynamic_shared_bytes: int) -> "SharedNames":
        """The names for a launch; of several external arrays, which share one place, the first counts."""
        static = [each for each in code.shared_variables if each.variable.linkage != "extern"]
        external = [each.variable.name for each in code.shared_variables if each.variable.linkage == "extern"]
        start = SHARED_START + code.dynamic_offset
        dynamic = _Named(external[0], start, dynamic_shared_bytes) if external else None
        named = [_Named(each.variable.name, SHARED_START + each.offset, each.variable.size) for each in static]
        return cls((*named, *([dynamic] if dynamic else ())), dynamic)

    def name(self, address: int) -> str | None:
        """The name of an address, "tile+128"; with the size of the variable where it is behind one, None before all."""
        before = [each for each in self.variables if each.start <= address]
        if not before:
            return None
        nearest = max(before, key=lambda each: each.start)
        offset = address - nearest.start
        size = "" if offset < nearest.size_bytes else f" ({nearest.name} has {nearest.size_bytes} bytes)"
        return f"{nearest.name}+{offset}{size}"

    def remedy(self, address: int) -> str:
        """The remedy for a launch if an address is in an external array and the launch gives it no bytes."""
        if self.dynamic is None or self.dynamic.size_bytes or address < self.dynamic.start:
            return ""
        return (
            f": the launch gives no dynamic shared memory for '{self.dynamic.name}' (dynamic_shared_bytes, "
            "--dynamic-shared)"
        )
