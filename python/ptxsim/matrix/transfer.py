"""`ldmatrix`, `stmatrix` and `movmatrix`: 8 × 8 matrices of 16-bit elements between rows of 16 bytes and registers.

In: the modifiers. Out: which lane gives the address of which row, and rows from registers or registers from rows. The
shapes of sm_100 (m16n16, m8n16, m16n8) are refused.

Source: PTX ISA §9.7.14.5.15 (ldmatrix), §9.7.14.5.16 (stmatrix), §9.7.14.5.17 (movmatrix).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ptxsim.machine.warp import WARP
from ptxsim.matrix.fragments import accumulator
from ptxsim.matrix.modifiers import MatrixModifiers

EDGE = 8  # rows, and elements of a row
_ELEMENT_BYTES = 2


@dataclass(frozen=True)
class MatrixTransfer:
    """`ldmatrix` or `stmatrix` of `count` matrices, one 32-bit register each.

    `space`: "shared", or None for a generic address, which must lie in shared memory.
    """

    opcode: str
    count: int
    transposed: bool
    space: str | None

    @cached_property
    def row_lanes(self) -> np.ndarray:
        """The lane whose address is that of each row [count, 8]; the addresses of other lanes are not looked at."""
        return np.arange(self.count * EDGE).reshape(self.count, EDGE)

    @property
    def register_bits(self) -> int:
        """The width of every register."""
        return 32

    @property
    def word_bytes(self) -> int:
        """The bytes of an element."""
        return _ELEMENT_BYTES

    @property
    def words(self) -> int:
        """The elements at the address of a lane: a row."""
        return EDGE

    def loaded(self, words: np.ndarray) -> np.ndarray:
        """The registers [n, 32, count] for the words [1, n, 32, 8] at the lanes' addresses."""
        used = np.ascontiguousarray(words[0][:, : self.row_lanes.size])
        return self.registers(used.view(np.uint8).reshape(len(used), *self.row_lanes.shape, -1))

    def stored(self, registers: np.ndarray) -> np.ndarray:
        """The words [1, n, 32, 8] at the lanes' addresses for registers [n, 32, count]; zeros without a row."""
        words = np.zeros((1, *registers.shape[:2], EDGE), np.uint16)
        words[0][:, : self.row_lanes.size] = self.rows(registers).view(np.uint16).reshape(len(registers), -1, EDGE)
        return words

    def registers(self, rows: np.ndarray) -> np.ndarray:
        """The registers [..., 32, count] uint32 that `ldmatrix` gives for rows [..., count, 8, 16] uint8."""
        matrices = np.ascontiguousarray(rows).view("<u2")
        return _registers(matrices.swapaxes(-1, -2) if self.transposed else matrices)

    def rows(self, registers: np.ndarray) -> np.ndarray:
        """The rows [..., count, 8, 16] uint8 that `stmatrix` writes for registers [..., 32, count] uint32."""
        matrices = _matrices(registers)
        return np.ascontiguousarray(matrices.swapaxes(-1, -2) if self.transposed else matrices).view(np.uint8)


@dataclass(frozen=True)
class MatrixTranspose:
    """`movmatrix`: a matrix across the registers of a warp becomes its transpose."""

    def transposed(self, registers: np.ndarray) -> np.ndarray:
        """The registers [..., 32] uint32 of the transpose of the matrix in registers [..., 32] uint32."""
        return _registers(_matrices(registers[..., None]).swapaxes(-1, -2))[..., 0]


# An 8 × 8 matrix of 16-bit elements lies in the lanes as an accumulator of that shape does: pairs along a row.
_LAYOUT = accumulator(EDGE, EDGE)


def _registers(matrices: np.ndarray) -> np.ndarray:
    """[..., 32, count] uint32 for matrices [..., count, 8, 8] uint16."""
    return np.ascontiguousarray(_LAYOUT.distributed(matrices)).view("<u4")[..., 0].swapaxes(-1, -2)


def _matrices(registers: np.ndarray) -> np.ndarray:
    """[..., count, 8, 8] uint16 for registers [..., 32, count] uint32."""
    by_matrix = np.ascontiguousarray(registers.swapaxes(-1, -2))
    return _LAYOUT.matrix(by_matrix.view("<u2").reshape(*by_matrix.shape[:-1], WARP, 2))


def parse_transfer(opcode: str, words: tuple[str, ...]) -> MatrixTransfer:
    """The `ldmatrix` or `stmatrix` that the modifiers name.

    Raises:
        UnknownInstruction: they name none, or one that only sm_100 and later have.
    """
    modifiers = MatrixModifiers(opcode, words)
    modifiers.require("sync", "aligned", "m8n8", "b16")
    count = int(modifiers.one(("x1", "x2", "x4"), "count")[1:])
    transposed = modifiers.has("trans")
    space = "shared" if modifiers.has("shared") or modifiers.has("shared::cta") else None
    modifiers.finish()
    return MatrixTransfer(opcode, count, transposed, space)


def parse_transpose(words: tuple[str, ...]) -> MatrixTranspose:
    """Check the modifiers of a `movmatrix`; there is only one.

    Raises:
        UnknownInstruction: they are others.
    """
    modifiers = MatrixModifiers("movmatrix", words)
    modifiers.require("sync", "aligned", "m8n8", "trans", "b16")
    modifiers.finish()
    return MatrixTranspose()
