"""Tiles and mbarriers in dynamic shared memory, as one thread addresses them: in bytes, by words of 32 bits."""

from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word
from tinyc.dialects.gpu.dialect import StagedTile
from tinyc.dialects.gpu.dynamic_memory import MBARRIER_BYTES
from tinyc.dialects.gpu.shared_layout import SharedLayout


@dataclass(frozen=True)
class SwizzledBuffer:
    """A circular buffer of tiles, from address `base` on."""

    base: Word
    staged: StagedTile

    @property
    def layout(self) -> SharedLayout:
        """Where the elements of a stage's tile stand."""
        return self.staged.layout

    def stage(self, stage: AnyWord) -> Word:
        """The address of a stage's tile."""
        return self.base + stage * self.layout.size_bytes

    def address(self, start: Word, row: AnyWord, column: AnyWord) -> Word:
        """The address of an element of the tile that begins at an address."""
        return start + self.layout.offset(row, column)


@dataclass(frozen=True)
class Mbarriers:
    """mbarriers of as many stages, from address `base` on."""

    base: Word

    def address(self, stage: AnyWord) -> Word:
        """The address of a stage's mbarrier."""
        return self.base + stage * MBARRIER_BYTES
