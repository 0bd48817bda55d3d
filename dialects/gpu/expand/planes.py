"""Where the elements of an operand stand in shared memory, so that threads beside each other meet no bank conflicts.

Each thread takes `width` neighbours, an access takes `taken` of them at a time. Those that the threads of a warp take
at once are not neighbours, where accesses are narrower; so they are put beside each other, in one of `count` *planes*.
"""

from dataclasses import dataclass

from tinyc.codegen.counters import Counters
from tinyc.dialects.gpu.statements.rules import VECTOR_BYTES
from tinyc.expr.axes import AxisExpr

#: What shared memory moves in one pass, and so after how many bytes banks come again.
_PASS_BYTES = 128


@dataclass(frozen=True)
class Planes:
    """The places of elements in shared memory: `count` planes, of `size` elements each."""

    count: int
    size: int
    taken: int

    @classmethod
    def of(cls, elements: int, element_bytes: int, width: int, aligned_to: int) -> "Planes":
        """The planes for so many elements; neighbours of a thread begin at multiples of `aligned_to`.

        One begins in another bank than the next, so that threads which copy neighbours write several of them at once.
        """
        taken = min(aligned_to, VECTOR_BYTES // element_bytes)
        count = width // taken
        if count == 1:
            return cls(1, elements, taken)
        size_bytes = -(-elements // width) * taken * element_bytes
        size_bytes += (_PASS_BYTES // count - size_bytes) % _PASS_BYTES
        return cls(count, size_bytes // element_bytes, taken)

    def place(self, counters: Counters, address: AxisExpr) -> AxisExpr:
        """The place of the element at an address."""
        if self.count == 1:
            return address
        run, rest = counters.divided(address, self.count * self.taken)
        plane, inside = counters.divided(rest, self.taken)
        return plane * self.size + run * self.taken + inside
