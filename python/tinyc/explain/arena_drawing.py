"""`tinyc explain --memory-svg`: the arena over time as a picture, generations across and offsets down.

In: a host program whose sizes are numbers. Out: a `Picture` for `svg` to write.
"""

from tinyc.diagnostics import TinycError
from tinyc.explain.arena import Placement, placements_of, quality_text, unbound_symbols
from tinyc.explain.drawing import CHARACTER, LINE, PADDING, Box, Picture
from tinyc.explain.layered import Point
from tinyc.expr import extents
from tinyc.expr.maximum import maximum_at
from tinyc.runtime.program import Program
from tinyc.vocabulary.alignment import aligned_size

#: Pixels: the height of the whole arena, the least width of a generation, and that of the offsets beside it.
_HEIGHT, _GENERATION, _OFFSETS = 480.0, 60.0, 90.0
#: Characters of a name for which a generation is wide enough.
_LONGEST = 16


def arena_picture(program: Program) -> Picture:
    """The picture of a program's arena.

    Raises:
        TinycError: `UnboundSymbol`: sizes are formulas.
    """
    unbound = unbound_symbols(program)
    if unbound:
        names = ",".join(f"{name}=…" for name in unbound)
        message = f"the sizes of the arena are formulas over {', '.join(unbound)}; give --bind {names} to draw it"
        raise TinycError("UnboundSymbol", message)
    return _Canvas(program).picture()


class _Canvas:
    def __init__(self, program: Program) -> None:
        self.placed, self.program = placements_of(program), program
        self.total = maximum_at(program.arena_bytes, {})
        longest = min(_LONGEST, max((len(each.label) for each in self.placed), default=0))
        self.column = max(_GENERATION, longest * CHARACTER + 2 * PADDING)
        self.generations = max((kernel.generation for kernel in program.kernels), default=-1) + 1
        self.top = 2 * (LINE + PADDING)

    def picture(self) -> Picture:
        """A frame for the arena, its title and its generations above it, its buffers in it."""
        width = self.generations * self.column
        title = quality_text(self.placed, self.program) if self.placed else "the arena is empty"
        frame = Box("frame", Point(_OFFSETS, self.top), width, _HEIGHT, (), f"arena of {self.total} bytes")
        text_width = max(len(title) * CHARACTER + 2 * PADDING, width + _OFFSETS)
        heading = Box("input", Point(0.0, 0.0), text_width, LINE + PADDING, (title,), "")
        boxes = [heading, *map(self._generation, range(self.generations)), *map(self._buffer, self.placed)]
        edges = sorted({self._offset(each) for each in self.placed})
        boxes += [self._edge(offset) for offset in edges]
        return Picture((frame,), (), tuple(boxes), text_width, self.top + _HEIGHT + LINE)

    def _generation(self, number: int) -> Box:
        names = (each.where.node or each.symbol for each in self.program.kernels if each.generation == number)
        corner = Point(_OFFSETS + number * self.column, LINE + PADDING)
        return Box("output", corner, self.column, LINE + PADDING, (str(number),), ", ".join(names))

    def _offset(self, each: Placement) -> int:
        return extents.evaluate(each.buffer.offset, {})

    def _down(self, offset: int) -> float:
        return self.top + _HEIGHT * offset / max(self.total, 1)

    def _edge(self, offset: int) -> Box:
        return Box("input", Point(0.0, self._down(offset)), _OFFSETS, LINE + PADDING / 2, (str(offset),), "")

    def _buffer(self, each: Placement) -> Box:
        offset, size = self._offset(each), extents.evaluate(each.buffer.size, {})
        end = offset + extents.evaluate(aligned_size(each.buffer.size), {})
        height = self._down(end) - self._down(offset)
        told = (each.label, f"{size} bytes", *([f"over {each.overwrites}"] if each.overwrites else []))
        lines = told[: int(height // LINE)]
        more = f"{each.buffer.name}: {each.label}, {size} bytes at {offset}, generations {each.first} … {each.last}"
        corner = Point(_OFFSETS + each.first * self.column, self._down(offset))
        return Box("box", corner, (each.last - each.first + 1) * self.column, height, lines, more)
