"""Random pairs of a producer and a consumer, and what isl says that the tiles of the consumer read.

The consumer reads windows, transposed, merged and broadcast axes, at one place or several, with pads; or it reads the
producer through a random chain of movements.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
from hypothesis import strategies as st

from analysis_programs.movement_chains import random_chain
from analysis_programs.poly_blocks import axes_of, block, copy_of
from analysis_programs.tiny_programs import Program
from tinyc.analysis.isl.polyhedra import Polyhedra
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly.view import poly_view
from tinyc.dialects.registry import context
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr
from tinyc.expr.axes.evaluation import evaluate_on_grid
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class Pair:
    """Two blocks, the consumer's sizes all known, and the sizes of a tile."""

    producer: PolyBlock
    consumer: PolyBlock
    sizes: Mapping[str, int]

    @property
    def reads(self) -> tuple[PolyAccess, ...]:
        """The reads of the producer."""
        return tuple(read for read in self.consumer.accesses if read.tensor == self.producer.name)


def pairs(extents: Sequence[int] = (1, 2, 3, 4, 5, 6), kinds: Sequence[str] = ("ewise", "reduce")) -> Any:
    """Return the strategy of pairs; `extents` are those of the axes of a consumer that no movement makes."""
    return st.integers(0, 2**32).map(lambda seed: random_pair(random.Random(seed), extents, kinds))


def random_pair(rng: random.Random, extents: Sequence[int], kinds: Sequence[str]) -> Pair:
    """Return a pair whose consumer is of one of `kinds`, and which is not large."""
    blocks = _through_movements(rng) if rng.random() < 0.4 else None
    producer, consumer = blocks or _written(rng, extents, rng.choice(kinds))
    names = [name for name in consumer.statement.axes if rng.random() < 0.6]
    return Pair(producer, consumer, {name: rng.randint(1, 7) for name in names})


def _written(rng: random.Random, extents: Sequence[int], kind: str) -> tuple[PolyBlock, PolyBlock]:
    shape = tuple(rng.choice(extents) for _ in range(rng.randint(1, 4)))
    while math.prod(shape) > 10_000:
        shape = shape[1:]
    rows = [_row(rng, shape) for _ in range(rng.randint(1, 3))]
    places = [rows]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):  # a stencil
        places.append([row + rng.choice([0, 0, 1, 3]) for row in rows])
    if rng.random() < 0.2:  # a read that moves in another way
        places.append([_row(rng, shape) for _ in rows])
    columns = [_fitted(rng, column, shape) for column in zip(*places, strict=True)]
    beside = [Guard(_row(rng, shape), rng.randint(1, 6), 0.0)] if rng.random() < 0.15 else []
    reads = []
    for number in range(len(places)):
        index = tuple(column[number] for column, _, _ in columns)
        pads = [Guard(row, size, 0.0) for row, (_, size, padded) in zip(index, columns, strict=True) if padded]
        reads.append(PolyAccess("x", index, (*pads, *beside)))
    labels = "ijkl"[: len(shape)]
    reduced = [label for label in labels if kind != "ewise" and rng.random() < 0.5]
    consumer = block("y", " ".join(labels), shape, *reads, reduced=" ".join(reduced), kind=kind)
    return copy_of("input", "x", " ".join("abc"[: len(rows)]), [size for _, size, _ in columns]), consumer


def _row(rng: random.Random, shape: Sequence[int]) -> AxisExpr:
    """Return an axis, a constant, a window, a digit of merged axes, or a part of one."""
    one, other = rng.choices(axes_of(shape), k=2)
    kind = rng.choice(["axis", "axis", "axis", "window", "window", "constant", "quotient", "remainder"])
    if kind == "axis":
        return one
    if kind == "constant":
        return axes.constant(rng.randint(0, 3))
    window = one * rng.choice([1, 1, 2, 3, -1]) + other * rng.choice([0, 1, 2, 3, -2]) + rng.randint(-2, 3)
    if kind == "window":
        return window
    return (axes.floordiv_within if kind == "quotient" else axes.mod)(window, rng.randint(2, 4), shape)


def _fitted(rng: random.Random, rows: Sequence[AxisExpr], shape: Sequence[int]) -> tuple[Sequence[AxisExpr], int, bool]:
    """Return rows, an extent, and whether pads keep the rows in it; where they do not, all values lie in it."""
    values = evaluate_on_grid(tuple(rows), shape, {})
    low, high = min(int(each.min()) for each in values), max(int(each.max()) for each in values)
    if rng.random() < 0.3:
        return rows, rng.randint(1, 8), True
    return [row - low for row in rows], high - low + 1 + rng.choice([0, 0, 2]), False


def _through_movements(rng: random.Random) -> tuple[PolyBlock, PolyBlock] | None:
    """Return two blocks with a chain of movements between them, None where it is no access or is cut."""
    shape = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    p = Program(x=TensorType("f32", tuple(shape)))
    value = random_chain(rng, shape, 4).on(p, p.neg(p["x"], name="a"))
    p.result(p.relu(value, name="b"))
    with context():
        items = {item.name: item for item in poly_view(p.function).items}
    producer, consumer = items["a"], items["b"]
    if not isinstance(producer, PolyBlock) or not isinstance(consumer, PolyBlock):
        return None
    return (producer, consumer) if {read.tensor for read in consumer.accesses} == {"a"} else None


# --- What isl says ----------------------------------------------------------------------------------------------------


def reached(consumer: PolyBlock, read: PolyAccess) -> Any:
    """Return the map from the consumer's instances to the elements that they read, as an `isl.Map`."""
    polyhedra = Polyhedra(consumer.statement, named=False)
    return polyhedra.access("T", read.index, read.guards).intersect_domain(polyhedra.domain)


def by_tile(consumer: PolyBlock, reads: Sequence[PolyAccess], sizes: Mapping[str, int]) -> Any:
    """Return the map from the numbers of tiles to the elements that their instances read, as an `isl.Map`."""
    names = [f"a{position}" for position in range(len(consumer.statement.axes))]
    numbers = [
        f"floor({name}/{sizes[axis]})"
        for name, axis in zip(names, consumer.statement.axes, strict=True)
        if axis in sizes
    ]
    tiles = isl.Map(f"{{ {consumer.name}[{', '.join(names)}] -> [{', '.join(numbers)}] }}")
    maps = [tiles.reverse().apply_range(reached(consumer, read)) for read in reads]
    return isl_union(maps)


def isl_union(maps: Sequence[Any]) -> Any:
    """Return the union of maps of one space."""
    total = maps[0]
    for each in maps[1:]:
        total = total.union(each)
    return total


def number_of(relation: Any) -> int:
    """Return how many pairs a map without parameters has."""
    pairs = relation.wrap()
    return 0 if pairs.is_empty() else pairs.count_val().to_python()


def places(pair: Pair) -> list[list[PolyAccess]]:
    """Return the reads of the producer, those together whose rows are a constant distance apart: a footprint each."""
    found: dict[Any, list[PolyAccess]] = {}
    for read in pair.reads:
        found.setdefault(tuple(row.terms for row in read.index), []).append(read)
    return list(found.values())


def elements(block_: PolyBlock) -> int:
    """Return how many elements a block writes."""
    return math.prod(size for size in block_.written_shape if isinstance(size, int))


def has_instances(pair: Pair) -> bool:
    """Say whether the consumer has any."""
    return 0 not in pair.consumer.statement.shape
