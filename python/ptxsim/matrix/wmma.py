"""`wmma.load`, `wmma.store` and `wmma.mma`: matrices between memory and the fragments of a warp, and their product.

In: the modifiers. Out: a `WmmaTransfer`, which says where the pieces of a matrix lie and turns them into registers and
back, or a `WarpMma`. Which lane holds which element is left open by the ISA (`fragments.wmma_fragments`), and so is
which lane reads what: here the lanes share the matrix in pieces of 16 bytes or less, lane after lane of another row,
or column, of what is stored. Elements of less than a byte move in words of 32 bits, whose elements a lane has together.

Source: PTX ISA §9.7.14.4.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ptxsim.machine.addresses import ADDRESSED_SPACES
from ptxsim.machine.warp import WARP
from ptxsim.matrix.elements import ELEMENTS, pack, unpack
from ptxsim.matrix.families import FAMILIES, require_shape, take_wmma_types
from ptxsim.matrix.fragments import Fragment, wmma_fragments
from ptxsim.matrix.mma import WarpMma, take_output_options
from ptxsim.matrix.modifiers import MatrixModifiers, MatrixShape

#: The widest access of a lane, in bytes; CUDA C++ asks for leading dimensions that are multiples of it.
_WIDEST = 16
_WORD_BITS = 32
#: A and B of f16 have 8 registers in every shape.
_F16_ELEMENTS = 16
_OPERANDS = {"load": ("a", "b", "c"), "store": ("d",)}


@dataclass(frozen=True)
class WmmaTransfer:
    """One `wmma.load` or `wmma.store`, `opcode`; `bits` are those of an element, `space` is "generic" without one.

    The matrix is stored in rows, `row_major`, or columns; `fragment` is in elements, or words of smaller ones.
    """

    opcode: str
    fragment: Fragment
    bits: int
    row_major: bool
    space: str

    @property
    def word_bytes(self) -> int:
        """The bytes of what is moved as a whole: an element, or a word of smaller ones."""
        return (self.bits if self.bits >= 8 else _WORD_BITS) // 8

    @property
    def words(self) -> int:
        """The words that a lane accesses at once."""
        return min(_WIDEST, self._stored_bytes // WARP) // self.word_bytes

    @property
    def accesses(self) -> int:
        """How many accesses of all lanes there are."""
        return self._stored_bytes // (WARP * self.words * self.word_bytes)

    @property
    def count(self) -> int:
        """How many registers of a lane hold the fragment."""
        return self.fragment_bytes * 8 // self.register_bits

    @property
    def register_bits(self) -> int:
        """The width of every register: 64 for f64, else 32."""
        return max(self.bits, _WORD_BITS)

    @property
    def fragment_bytes(self) -> int:
        """The bytes of a lane's registers, of which the address is a multiple."""
        return self.fragment.elements * self.word_bytes

    @property
    def length(self) -> int:
        """The elements of a row or column as stored: the least stride, and the one where none is given."""
        return self._extents[1] * self.word_bytes * 8 // self.bits

    @property
    def stride_bytes(self) -> int:
        """The bytes of which the distance of rows or columns is a multiple."""
        return min(_WIDEST, self.fragment_bytes)

    def offsets(self, strides: np.ndarray) -> np.ndarray:
        """Where the lanes' pieces are from the address on: [accesses, n, 32] bytes, for strides [n, 1] in elements."""
        piece, line = np.divmod(np.arange(self.accesses * WARP).reshape(-1, 1, WARP), self._extents[0])
        distance = strides.astype(np.int64) * self.bits // 8
        return line * distance + piece * self.words * self.word_bytes

    def loaded(self, words: np.ndarray) -> np.ndarray:
        """The registers [n, 32, count] for words [accesses, n, 32, words]."""
        lines, length = self._extents
        pieces = words.swapaxes(0, 1).reshape(words.shape[1], -1, lines, self.words)
        stored = pieces.swapaxes(1, 2).reshape(-1, lines, length)
        return pack(self.fragment.distributed(stored if self.row_major else stored.swapaxes(1, 2)))

    def stored(self, registers: np.ndarray) -> np.ndarray:
        """The words [accesses, n, 32, words] for registers [n, 32, count]."""
        matrix = self.fragment.matrix(unpack(registers, self.word_bytes * 8))
        stored = matrix if self.row_major else matrix.swapaxes(1, 2)
        pieces = stored.reshape(len(stored), self._extents[0], -1, self.words).swapaxes(1, 2)
        return pieces.reshape(len(stored), self.accesses, WARP, self.words).swapaxes(0, 1)

    @cached_property
    def _extents(self) -> tuple[int, int]:
        """The rows or columns as stored, and the words of each."""
        rows, columns = self.fragment.rows, self.fragment.columns
        return (rows, columns) if self.row_major else (columns, rows)

    @property
    def _stored_bytes(self) -> int:
        return self.fragment.rows * self.fragment.columns * self.word_bytes


def parse_wmma(words: tuple[str, ...]) -> WarpMma | WmmaTransfer:
    """The `wmma` that the modifiers name.

    Raises:
        UnknownInstruction: the ISA has none such.
    """
    modifiers = MatrixModifiers("wmma", words)
    verb = modifiers.one(("load", "store", "mma"), "operation")
    modifiers.require("sync", "aligned")
    shape = modifiers.shape()
    found = _product(modifiers, shape) if verb == "mma" else _transfer(modifiers, verb, shape)
    modifiers.finish()
    return found


def _product(modifiers: MatrixModifiers, shape: MatrixShape) -> WarpMma:
    orders = modifiers.ordered(("row", "col"))
    types, family = take_wmma_types(modifiers)
    if len(orders) != 2:
        modifiers.refuse("needs the orders of A and B, '.row' or '.col' each")
    require_shape(modifiers, shape, types.a, family.wmma_shapes)
    element = ELEMENTS[types.a]
    if element.bits < 8 and orders != ("row", "col"):
        modifiers.refuse(f"A of .{types.a} must be '.row' and B '.col'")
    bitwise = ""
    if types.a == "b1":
        modifiers.require("popc")
        bitwise = modifiers.one(("xor", "and"), "operation on bits")
    layouts = wmma_fragments(shape, element.bits, _least(types.a))
    return WarpMma(shape, types, layouts, *take_output_options(modifiers, types), bitwise)


def _transfer(modifiers: MatrixModifiers, verb: str, shape: MatrixShape) -> WmmaTransfer:
    operand = modifiers.one(_OPERANDS[verb], "matrix")
    order = modifiers.one(("row", "col"), "order")
    families = [
        (element, family)
        for family in FAMILIES
        for element in (family.multiplicands if operand in "ab" else family.accumulators)
        if family.wmma_shapes
    ]
    name = modifiers.one(dict.fromkeys(element for element, _ in families), "type")
    shapes = [each for element, family in families if element == name for each in family.wmma_shapes]
    require_shape(modifiers, shape, name, dict.fromkeys(shapes))
    bits = ELEMENTS[name].bits
    if bits < 8 and order != (only := {"a": "row", "b": "col"}[operand]):
        modifiers.refuse(f"{operand.upper()} of .{name} must be '.{only}'")
    spaces = modifiers.ordered(("global", "shared", "shared::cta"))
    if len(spaces) > 1:
        modifiers.refuse("has more than one state space")
    of_words = shape._replace(k=shape.k * bits // _WORD_BITS) if bits < 8 else shape
    layouts = wmma_fragments(of_words, bits if bits >= 8 else _WORD_BITS, _least(name))
    fragment = {"a": layouts.a, "b": layouts.b}.get(operand, layouts.d)
    space = ADDRESSED_SPACES[spaces[0]] if spaces else "generic"
    return WmmaTransfer(verb, fragment, bits, order == "row", space)


def _least(element: str) -> int:
    """How many elements of A and B a lane holds at least."""
    return _F16_ELEMENTS if element == "f16" else 1
