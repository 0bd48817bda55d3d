"""Broadcast kinds: how what an epilogue reads follows its tile, in `tgpu.epilogue` and in the facts about a kernel."""

import enum


class Broadcast(enum.StrEnum):
    """How the elements of an epilogue's input follow those of a tile of the output."""

    ROW = "row"  # one for each row
    COLUMN = "column"
    FULL = "full"
    SCALAR = "scalar"
    GATHER = "gather"  # any other way, or several ways
