"""What the addresses of findings are called: the variable or array that an address is in, behind or before.

In: the variables of a kernel and its module, and where the arrays of a launch lie. Out: text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ptxsim.linking.code import Code
from ptxsim.memory.global_memory import GAP_BYTES
from ptxsim.memory.windows import LOCAL_START, SHARED_START
from ptxsim.parsing.syntax import Location

_STARTS = {"shared": SHARED_START, "local": LOCAL_START}


@dataclass(frozen=True)
class Named:
    """A variable, or an array argument, at addresses of `space` from `start` on."""

    name: str
    space: str
    start: int
    size_bytes: int
    is_array: bool = False

    @classmethod
    def of_variable(cls, location: Location, start: int) -> "Named":
        """The variable of a location in a space whose variables start at `start`."""
        variable = location.variable
        return cls(variable.name, location.space, start + location.offset, variable.size)

    def distance(self, address: int) -> int:
        """The bytes between an address and this, 0 inside of it."""
        return max(self.start - address, address - (self.start + self.size_bytes) + 1, 0)

    def place(self, address: int) -> str:
        """What an address in or near this is called: "tile+128", "byte 8 of array 'x'", "4 bytes before array 'x'"."""
        offset, is_inside = address - self.start, self.distance(address) == 0
        if offset < 0:
            return f"{-offset} byte{'s' * (offset != -1)} before {'array ' * self.is_array}'{self.name}'"
        if self.is_array:
            size = "" if is_inside else f", which has {self.size_bytes} bytes"
            return f"byte {offset} of array '{self.name}'{size}"
        size = "" if is_inside else f" ({self.name} has {self.size_bytes} bytes)"
        return f"{self.name}+{offset}{size}"


@dataclass(frozen=True)
class AddressNames:
    """All that has a name during a launch; `dynamic` is the external shared array, None where there is none."""

    named: tuple[Named, ...]
    dynamic: Named | None

    @classmethod
    def of(
        cls, code: Code, dynamic_shared_bytes: int, module: Iterable[Named], arrays: Sequence[Named]
    ) -> "AddressNames":
        """The names for a launch; of several external shared arrays, which share one place, the first counts."""
        own = [*code.shared_variables, *code.local_variables]
        variables = [Named.of_variable(each, _STARTS[each.space]) for each in own if each.variable.linkage != "extern"]
        external = [each.variable.name for each in code.shared_variables if each.variable.linkage == "extern"]
        start = SHARED_START + code.dynamic_offset
        dynamic = Named(external[0], "shared", start, dynamic_shared_bytes) if external else None
        return cls((*variables, *([dynamic] if dynamic else ()), *module, *arrays), dynamic)

    def name(self, address: int, space: str) -> str | None:
        """The name of an address: of what it is in, else of what is nearest; None where nothing is near."""
        near = [each for each in self.named if each.space == space and each.distance(address) <= GAP_BYTES // 2]
        if not near:
            return None
        # Behind one thing and before the next: who runs over an end is more common than who starts too early.
        nearest = min(near, key=lambda each: (each.distance(address), address < each.start, -each.start))
        return nearest.place(address)

    def remedy(self, address: int) -> str:
        """The remedy for a launch if an address is in an external array and the launch gives it no bytes."""
        if self.dynamic is None or self.dynamic.size_bytes or address < self.dynamic.start:
            return ""
        return (
            f": the launch gives no dynamic shared memory for '{self.dynamic.name}' (dynamic_shared_bytes, "
            "--dynamic-shared)"
        )
