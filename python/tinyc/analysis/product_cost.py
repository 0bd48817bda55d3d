"""The predicted time of a matrix product on a CPU in tiles: what each part of the work takes a core, by closed forms.

In: the shape of a product, a tile, the target with its caches. Out: a `ProductTime`. Of a tile, the micro-kernels
multiply, with what fills up their last rows and vectors; they wait for what the caches give slower than they multiply;
operands are packed, sums loaded and stored for each panel, results written. Threads share the tiles, and where there is
no even number of them for each, some are idle. A plan is the same for any number of threads: the time is the mean over
several numbers of them. A size that is not known counts as a usual one. The micro-kernel is that of AVX2.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinyc.analysis.cpu_form import ProductLoops
from tinyc.analysis.tile_sides import TileSide
from tinyc.analysis.window_box import AxisWindow, WindowBox, longest_window, window_box
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.target import DEFAULT_CPU, CpuTarget, DotForm, vector_unit_of

#: What a size counts as that is not known.
_USUAL = 4096


@dataclass(frozen=True)
class ProductShape:
    """What the time of a product depends on: its `loops`, by extents, with those of both `sides`; `depth` products.

    Sums are of `element_bytes`; `taps` products are packed together, or those of `windows` along the loops of columns,
    in boxes; in the form `dot` words of neighbours are multiplied. What has its neighbours in memory along its lines
    is copied, else it is transposed; guards of rows are conditions in that. `has_weights` says that the right operand
    is packed once for all runs.
    """

    loops: Shape
    sides: ProductLoops
    depth: Dim
    taps: int
    windows: tuple[AxisWindow, ...]
    dot: DotForm | None
    element_bytes: int
    has_rows_inside: bool
    has_columns_inside: bool
    has_guarded_rows: bool
    has_left_in_place: bool
    has_right_in_place: bool
    has_weights: bool

    @property
    def is_across(self) -> bool:
        """Whether rows, not columns, are along the last loop, where results are beside each other."""
        return max(self.sides.columns) < max(self.sides.rows, default=-1)

    @property
    def group(self) -> int:
        """The products of a word."""
        return 1 if self.dot is None else self.dot.group

    @functools.cached_property
    def rows(self) -> int:
        """How many rows there are, with usual sizes."""
        return self.lines(self.sides.rows)

    @functools.cached_property
    def columns(self) -> int:
        """How many columns there are, with usual sizes."""
        return self.lines(self.sides.columns)

    @functools.cached_property
    def batch(self) -> int:
        """How many products there are of these rows and columns, with usual sizes."""
        return self.lines(range(len(self.loops))) // max(1, self.rows * self.columns)

    @property
    def packed_together(self) -> int:
        """The products of which every panel has all or none."""
        return math.lcm(self.taps, math.prod(each.products for each in self.windows))

    def box(self, rows: TileSide, columns: TileSide) -> WindowBox | None:
        """The box that the columns of a tile are packed in."""
        return window_box(self.windows, columns, rows.most, longest_window(self.element_bytes))

    @functools.cached_property
    def products(self) -> int:
        """How many products make an element, with a usual size."""
        return max(1, usual_size(self.depth))

    def lines(self, places: Iterable[int]) -> int:
        """How many turns some loops have together, with usual sizes."""
        return math.prod(usual_size(self.loops[place]) for place in places)


@dataclass(frozen=True)
class ProductTile:
    """Tiles of a product: of rows, columns, and the products of a panel; and which operands are packed."""

    rows: TileSide
    columns: TileSide
    depth: int
    packs_left: bool
    packs_right: bool

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The tile as a plan has it."""
        return self.rows.most, self.columns.most, self.depth


@dataclass(frozen=True)
class ProductTime:
    """The predicted time of all threads that share a product, from its start to its end, as the mean of machines.

    `parts` are the seconds of each part of it, and `limiter` the longest one; `turns` is how many tiles there are.
    """

    seconds: float
    limiter: str
    parts: tuple[tuple[str, float], ...]
    turns: int


def usual_size(extent: Dim) -> int:
    """What an extent counts as."""
    return extent if isinstance(extent, int) else _USUAL


class SideLines:
    """The rows or the columns in `tiles`: how many a tile has at `most`, and on average (`mean`)."""

    def __init__(self, shape: ProductShape, places: Sequence[int], side: TileSide) -> None:
        extent = max(1, usual_size(side.extents[0])) if places else 1
        size = min(side.size, extent)
        self._along = -(-extent // size)
        self._last_turns = extent - (self._along - 1) * size
        self._inside = side.inside
        self.tiles = shape.lines(place for place in places if place not in side.loops) * self._along
        self.most = size * side.inside
        self.mean = extent * side.inside / self._along

    def micro_kernels(self, size: int, unit: int, box: WindowBox | None = None) -> list[tuple[int, float]]:
        """The micro-kernels along them: sizes, and how many of each a tile has on average.

        They have so many lines, and where all tiles are the same, the last one as many units as there are. In a box
        lines are those with what is between its rows.
        """
        last = self._last_turns * self._inside if box is None else box.span_of(self._last_turns)
        most = self.most if box is None else box.span
        if last != most:
            return [(size, ((self._along - 1) * -(-most // size) + -(-last // size)) / self._along)]
        return [(size, most // size), (-(-(most % size) // unit) * unit, int(most % size > 0))]


class ProductModel:
    """The cost model of a product of one shape, for all of its tiles."""

    def __init__(self, shape: ProductShape, target: CpuTarget) -> None:
        self._shape, self._target, self._unit = shape, target, vector_unit_of(DEFAULT_CPU)
        sides = shape.sides
        self._left = _Operand(shape, sides.rows, shape.rows, target, lies_along=shape.has_rows_inside)
        self._guarded = target.products.guarded_cycles if shape.has_guarded_rows else 0.0
        self._right = _Operand(shape, sides.columns, shape.columns, target, lies_along=shape.has_columns_inside)
        results = shape.rows * shape.columns * shape.element_bytes
        self._bytes_moved = shape.batch * (self._left.bytes_held + self._right.bytes_held + results)

    def time(self, tile: ProductTile, rows: SideLines, columns: SideLines) -> ProductTime:
        """The time of a product in tiles of these rows and columns."""
        rates, turns = self._target.products, rows.tiles * columns.tiles * self._shape.batch
        cycles = self._cycles(tile, rows, columns)
        busy = sum(cycles.values()) / rates.hz
        waiting = idle = 0.0
        for threads, weight in rates.machines:
            shared = -(-turns // threads) * busy
            memory = self._bytes_moved / min(threads * rates.memory_bytes, self._target.rates.bytes_per_second)
            start = self._target.rates.launch_seconds if threads > 1 and turns > 1 else 0
            idle += weight * (threads * (shared + start) - turns * busy)
            waiting += weight * threads * max(0.0, memory - shared)
        parts = {name: turns * each / rates.hz for name, each in cycles.items()}
        parts |= {"memory": waiting, "idle threads": idle}
        return ProductTime(sum(parts.values()), max(parts, key=lambda name: parts[name]), tuple(parts.items()), turns)

    def _cycles(self, tile: ProductTile, rows: SideLines, columns: SideLines) -> dict[str, float]:
        """The cycles of a core for the average tile, by what takes them."""
        shape, rates, unit, size = self._shape, self._target.products, self._unit, self._shape.element_bytes
        depth, level = shape.products, self._target.bytes_per_cycle
        near = -(-rows.most // -(-rows.most // unit.micro_rows))
        vectors = unit.micro_vectors if tile.packs_right else unit.most_vectors(near)
        lanes = unit.register_bytes // size
        box = shape.box(tile.rows, tile.columns) if tile.packs_right and not shape.has_weights else None
        below, beside = rows.micro_kernels(near, 1), columns.micro_kernels(vectors * lanes, lanes, box)
        micro_kernels, steps = 0.0, 0.0
        for (down, rows_of), (across, columns_of) in itertools.product(below, beside):
            micro_kernels += rows_of * columns_of
            steps += rows_of * columns_of * self._step_cycles(down, across // lanes)
        multiplied, useful = depth * steps, rows.mean * columns.mean * depth / lanes
        panels = -(-depth // tile.depth)
        sums = micro_kernels * panels * rates.start_cycles
        if panels > 1:
            vector_bytes = near * vectors * unit.register_bytes
            sums += micro_kernels * panels * 2 * vector_bytes / level(rows.most * columns.most * size)
        left = self._left.packing_cycles + self._guarded
        packed = rows.mean * depth * left if tile.packs_left else 0.0
        panel = min(tile.depth, depth) * columns.most * size // shape.group
        if box is not None:
            panel = panel // (box.products * columns.most) * box.places
        read = micro_kernels * depth * vectors * unit.register_bytes * self._missed_cycles(panel)
        if tile.packs_left and shape.has_rows_inside:  # for all rows at once
            read += rows.mean * depth * size / level(rows.most * min(tile.depth, depth) * size)
        else:
            read += rows.mean * (panels * self._left.start_cycles + depth * self._left.streaming_cycles)
        right = columns.mean * depth
        if box is not None:
            places = box.places / columns.most * columns.mean
            packed += places * depth / box.products * self._right.packing_cycles_in(box.extents[-1])
        elif tile.packs_right and not shape.has_weights:
            packed += right * self._right.packing_cycles
        elif tile.packs_right or panels > 1:  # half of it comes while the micro-kernels multiply
            streamed = right * self._right.streaming_cycles
            read += max(streamed / 2, streamed - multiplied)
            if not tile.packs_right:
                start = self._right.start_cycles if columns.tiles > 1 else 0
                read += depth * (micro_kernels * rates.jump_cycles + start)
        else:
            read += right * self._right.loaded_cycles + depth * micro_kernels * self._page_cycles(depth)
        return {
            "arithmetic": useful / rates.multiply_adds,
            "unfilled vectors": multiplied - useful / rates.multiply_adds,
            "reading": read,
            "packing": packed,
            "sums": sums,
            "results": rows.mean * columns.mean * (rates.result_cycles + self._across_cycles()),
        }

    def _step_cycles(self, rows: int, vectors: int) -> float:
        """The cycles of a product in a micro-kernel of rows and vectors."""
        rates = self._target.products
        return max(rows * vectors / rates.multiply_adds, rates.latency, (rows + vectors) / rates.loads)

    def _page_cycles(self, products: int) -> float:
        """The cycles that each of so many products in place takes longer, when they are in pages of their own.

        Those that the translation of addresses has no room for are waited for.
        """
        rates, row_bytes = self._target.products, self._shape.columns * self._shape.element_bytes
        pages = products * min(1.0, row_bytes / rates.page_bytes)
        return rates.row_cycles + rates.jump_cycles * max(0.0, 1 - rates.held_pages / max(pages, 1))

    def _across_cycles(self) -> float:
        """The cycles that a result takes besides, where the next one is in another line: no vectors are stored.

        Lines that are a power of two apart share few of the places that L1 has for the lines of a page.
        """
        shape, rates = self._shape, self._target.products
        if not shape.is_across:
            return 0.0
        pitch = shape.lines(place for place in shape.sides.rows if place > max(shape.sides.columns))
        shared = math.gcd(pitch * shape.element_bytes, rates.page_bytes) / rates.page_bytes
        return rates.apart_cycles + rates.across_cycles * shared

    def _missed_cycles(self, panel: int) -> float:
        """The cycles that a byte of a panel of so many is waited for, since it is not in L2 any more."""
        rates = self._target.products
        missed = rates.missed_part * max(0.0, panel / self._target.l2_bytes - rates.kept_part)
        return missed / rates.cache_bytes[-1]


class _Operand:
    """An operand of so many `lines` along the loops at `places`, along which its neighbours lie in memory or not.

    An element is packed in `packing_cycles`, or streams in `streaming_cycles`, a run of them after `start_cycles`.
    """

    def __init__(
        self, shape: ProductShape, places: Sequence[int], lines: int, target: CpuTarget, *, lies_along: bool
    ) -> None:
        rates, size = target.products, shape.element_bytes
        shared = shape.packed_together if lies_along else 1  # by windows
        self.bytes_held = lines * shape.products * size / shared
        self._rates, self.loaded_cycles = rates, size / target.packed_per_cycle(self.bytes_held)
        run = self.packing_cycles_in(max(1, shape.lines(places[-1:])))
        self.packing_cycles = run if lies_along else rates.transposed_cycles + self.loaded_cycles
        self.streaming_cycles = size / target.bytes_per_cycle(self.bytes_held)
        self.start_cycles = rates.stream_cycles if self.bytes_held > target.l2_bytes else 0

    def packing_cycles_in(self, run: int) -> float:
        """The cycles in which an element is packed, of as many neighbours."""
        return self._rates.copied_cycles + self._rates.run_cycles / run + self.loaded_cycles
