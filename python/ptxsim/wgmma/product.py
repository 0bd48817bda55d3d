"""`wgmma.mma_async`: D = A · B + D over the registers of four warps, B (and mostly A) from shared memory.

In: the modifiers. Out: a `WarpgroupMma`: its registers and immediate operands, the addresses that it reads, and D's
registers from the bits of A, B and D. That it runs asynchronously is the engine's.

Source: PTX ISA §9.7.15.5.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ptxsim.machine.warp import WARP
from ptxsim.matrix import fragments
from ptxsim.matrix.arithmetic import multiply_accumulate
from ptxsim.matrix.elements import ELEMENTS, pack, unpack
from ptxsim.matrix.families import Types, take_types
from ptxsim.matrix.modifiers import MatrixModifiers, MatrixShape
from ptxsim.semantics.operation import UnknownInstruction
from ptxsim.wgmma.descriptor import chunk_addresses, matrix_of_chunks

WARPS = 4
_WARP_ROWS = 16


class Immediates(NamedTuple):
    """What the immediate operands say: factors of A and B (1, -1), and whether they are M- or N-major (0, 1)."""

    scale_a: int = 1
    scale_b: int = 1
    trans_a: int = 0
    trans_b: int = 0


_ALLOWED = {"scale_a": (-1, 1), "scale_b": (-1, 1), "trans_a": (0, 1), "trans_b": (0, 1)}


@dataclass(frozen=True)
class WarpgroupMma:
    """One `wgmma.mma_async`: its shape and types; integers may saturate."""

    shape: MatrixShape
    types: Types
    saturating: bool

    @property
    def a_registers(self) -> int:
        """How many 32-bit registers of a lane hold A, where it is in registers: 4 for every type."""
        return _WARP_ROWS * self.shape.k * ELEMENTS[self.types.a].bits // (WARP * 32)

    @property
    def d_registers(self) -> int:
        """How many 32-bit registers of a lane hold D."""
        return _WARP_ROWS * self.shape.n * ELEMENTS[self.types.result].bits // (WARP * 32)

    def immediate_names(self, a_in_registers: bool) -> tuple[str, ...]:
        """The operands after `scale-d`, in order: fields of `Immediates`."""
        if self.types.result == "s32":
            return ()
        if ELEMENTS[self.types.a].bits != 16:
            return ("scale_a", "scale_b")
        return ("scale_a", "scale_b", "trans_b") if a_in_registers else ("scale_a", "scale_b", "trans_a", "trans_b")

    def immediates(self, values: tuple[int, ...], a_in_registers: bool) -> Immediates:
        """The immediate operands, those after `scale-d`.

        Raises:
            UnknownInstruction: there are more or fewer than the instruction has, or a value is not allowed.
        """
        names = self.immediate_names(a_in_registers)
        if len(values) != len(names):
            raise UnknownInstruction(
                f"wgmma.mma_async of .{self.types.a} has {len(names)} operands after scale-d "
                f"({', '.join(names) or 'none'}), not {len(values)}"
            )
        for name, value in zip(names, values, strict=True):
            if value not in _ALLOWED[name]:
                allowed = " or ".join(map(str, _ALLOWED[name]))
                raise UnknownInstruction(f"wgmma.mma_async: imm-{name.replace('_', '-')} is {value}; it is {allowed}")
        return Immediates(**dict(zip(names, values, strict=True)))

    def a_addresses(self, descriptor: int, mn_major: bool) -> np.ndarray:
        """The shared addresses of the 16-byte chunks of A; see `descriptor.chunk_addresses`."""
        return chunk_addresses(descriptor, self.shape.m, self.shape.k, self._bytes, mn_major)

    def b_addresses(self, descriptor: int, mn_major: bool) -> np.ndarray:
        """The shared addresses of the 16-byte chunks of B; see `descriptor.chunk_addresses`."""
        return chunk_addresses(descriptor, self.shape.n, self.shape.k, self._bytes, mn_major)

    def a_of_chunks(self, chunks: np.ndarray, mn_major: bool) -> np.ndarray:
        """A [..., 64, k] as bit patterns, from its chunks [..., 16] uint8 in the order of their addresses."""
        return matrix_of_chunks(chunks, self._bytes, mn_major)

    def b_of_chunks(self, chunks: np.ndarray, mn_major: bool) -> np.ndarray:
        """B [..., k, n] as bit patterns, from its chunks [..., 16] uint8 in the order of their addresses."""
        return matrix_of_chunks(chunks, self._bytes, mn_major).swapaxes(-1, -2)

    def a_of_registers(self, registers: np.ndarray) -> np.ndarray:
        """A [..., 64, k] as bit patterns, from registers [..., 4 warps, 32, a_registers] uint32."""
        layout = fragments.multiplicand_a(_WARP_ROWS, self.shape.k, ELEMENTS[self.types.a].bits)
        bands = layout.matrix(unpack(registers, ELEMENTS[self.types.a].bits))
        return bands.reshape(*bands.shape[:-3], self.shape.m, self.shape.k)

    def compute(self, a: np.ndarray, b: np.ndarray, d: np.ndarray | None, immediates: Immediates) -> np.ndarray:
        """The registers of A · B + D, or of A · B where D is None (`scale-d` is false).

        Shapes: a [..., 64, k] and b [..., k, n], bit patterns; d and the result [..., 4 warps, 32, d_registers] uint32.
        """
        layout = fragments.accumulator(_WARP_ROWS, self.shape.n)
        batch = a.shape[:-2]
        c = None
        if d is not None:
            bands = layout.matrix(unpack(d, ELEMENTS[self.types.result].bits))
            c = ELEMENTS[self.types.result].numbers(bands.reshape(*batch, self.shape.m, self.shape.n))
        a_numbers = ELEMENTS[self.types.a].numbers(a) * immediates.scale_a
        b_numbers = ELEMENTS[self.types.b].numbers(b) * immediates.scale_b
        product = multiply_accumulate(a_numbers, b_numbers, c, self.types.result, self.saturating)
        return pack(layout.distributed(product.reshape(*batch, WARPS, _WARP_ROWS, self.shape.n)))

    def defined(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The registers of D that have only products of defined elements of A and B, the old D aside.

        Shapes: a [..., 64, k] and b [..., k, n] bool; the result [..., 4 warps, 32, d_registers].
        """
        products = np.all(a, axis=-1)[..., :, None] & np.all(b, axis=-2)[..., None, :]
        bands = products.reshape(*products.shape[:-2], WARPS, _WARP_ROWS, self.shape.n)
        elements = fragments.accumulator(_WARP_ROWS, self.shape.n).distributed(bands)
        return np.all(elements.reshape(*elements.shape[:-1], self.d_registers, -1), axis=-1)

    @property
    def _bytes(self) -> int:
        return ELEMENTS[self.types.a].bits // 8


def parse_wgmma(words: tuple[str, ...]) -> WarpgroupMma:
    """The `wgmma.mma_async` that the modifiers after `.mma_async` name.

    Raises:
        UnknownInstruction: the ISA has none such, or the simulator does not model it (sparse and 1-bit forms).
    """
    modifiers = MatrixModifiers("wgmma.mma_async", words)
    modifiers.require("sync", "aligned")
    shape = modifiers.shape()
    types, family = take_types(modifiers, with_c=False)
    saturating = types.result == "s32" and modifiers.has("satfinite")
    modifiers.finish()
    if shape.m != 64 or shape.k != family.wgmma_k or not _is_extent(shape.n, types):
        modifiers.refuse(f".{types.a} has no shape .{shape}; it has {_shapes(types, family.wgmma_k)}")
    return WarpgroupMma(shape, types, saturating)


def _is_extent(n: int, types: Types) -> bool:
    """Whether n is one that `wgmma` has: multiples of 8, for integers above 32 of 16."""
    step = 16 if types.result == "s32" and n > 32 else 8
    return 8 <= n <= 256 and n % step == 0


def _shapes(types: Types, k: int) -> str:
    if k == 0:
        return "none"
    return f".m64n8k{k} … .m64n256k{k} in steps of {'8, from 32 on of 16' if types.result == 's32' else '8'}"
