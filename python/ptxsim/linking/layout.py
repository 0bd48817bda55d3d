"""Places variables in state spaces, each at a multiple of its alignment, in the order in which they come."""

from dataclasses import dataclass, field

from ptxsim.errors import PtxError
from ptxsim.parsing.syntax import Location, Variable

#: What fits into an address of the 32-bit spaces, and more than any test runs with.
_LARGEST_BYTES = 1 << 40


@dataclass
class Layout:
    """The variables of one space so far: `size` bytes, the greatest `alignment`, and a place for each variable."""

    space: str
    size: int = 0
    alignment: int = 1
    locations: list[Location] = field(default_factory=list)
    _places: dict[int, Location] = field(default_factory=dict)

    def place(self, variable: Variable) -> Location:
        """The variable's place, which is a new one the first time."""
        known = self._places.get(id(variable))
        if known is not None:
            return known
        offset = aligned(self.size, variable.alignment)
        if offset + variable.size > _LARGEST_BYTES:
            raise PtxError(f"'{variable.name}' does not fit into the space '.{self.space}'", variable.line, 1)
        self.size = offset + variable.size
        return self._add(variable, offset)

    def place_at(self, variable: Variable, offset: int) -> Location:
        """The variable's place at an offset that others may have, too: an external array."""
        return self._places.get(id(variable)) or self._add(variable, offset)

    def _add(self, variable: Variable, offset: int) -> Location:
        location = Location(self.space, offset, variable)
        self.alignment = max(self.alignment, variable.alignment)
        self._places[id(variable)] = location
        self.locations.append(location)
        return location


def aligned(offset: int, alignment: int) -> int:
    """The first multiple of `alignment` from `offset` on."""
    return -(-offset // alignment) * alignment
