"""The smallest kind of memory that holds a producer's elements between it and its consumer.

Registers where every instance of the consumer takes the element that its own thread made (or one for a whole row of
them); a circular buffer of stages in shared memory where elements are read in other places than they are made in;
global memory where a tile of the consumer cannot hold its producer, or the circular buffer does not fit. Specification
000 §1.6, §4.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyAccess, PolyBlock, PolyItem
from tinyc.analysis.poly_core.compute_at import ComputeAt, can_compute_at, element_bytes, smallest_tile
from tinyc.analysis.poly_core.legality import legality_at
from tinyc.analysis.poly_core.tile import reduction_axes
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis
from tinyc.expr.extents import Dim
from tinyc.target import SM80
from tinyc.target.target import Target

#: Of an axis that a contraction sums and that the tile does not name, what a stage holds: the k of a 16-bit MMA.
_STEP = 16
#: The share of a CTA's shared memory that its circular buffers may take (specification 000 §4.2).
_SHARE = 0.8
_REGISTER_BYTES = 4


@dataclass(frozen=True)
class MinBuffer:
    """`buffer` is "reg", "smem_ring" (of `depth` stages) or "gmem", and why.

    `bytes` are those of one CTA: of each footprint, the box of the widest tile along each row, and of a circular buffer
    all stages. For "gmem" they are the whole tensor's, 0 where no block makes it.
    """

    buffer: str
    depth: int | None
    bytes: Dim
    reason: str


def min_buffer_for_edge(
    producer: PolyItem,
    consumer: PolyItem,
    tile: Mapping[str, int] | None = None,
    target: Target = SM80,
) -> MinBuffer:
    """The smallest buffer in which `consumer`, tile by tile, can take what `producer` makes.

    `tile` is that of `can_compute_at`. Axes that the tile does not name are streamed where the closed forms of the
    order allow it: of what is pointwise all, an element at a time; otherwise the summed ones that share no row with
    another axis, in steps of 16. Registers hold up to half of what a CTA can have. A circular buffer has up to 80 % of
    the shared memory, in two stages, or in three where they fit and the tiles take parts of a sum one after the other.

    Raises:
        ValueError: a size is not a whole number from 1 to `MAX_SIZE`, or no axis has its name.
        ExtentError: the product of the tensor's extents is too long an expression.
    """
    at = can_compute_at(producer, consumer, tile)
    if not isinstance(producer, PolyBlock):
        return MinBuffer("gmem", None, 0, at.reason)
    if not isinstance(consumer, PolyBlock) or not at.ok:
        return _in_global_memory(producer, at.reason)
    streamed = can_compute_at(producer, consumer, _streamed(producer, consumer, tile))
    if is_pointwise(producer, consumer):
        return _in_registers(producer, streamed, target)
    return _in_circular_buffer(producer, consumer, streamed, target)


def circular_buffer_bytes(target: Target) -> int:
    """The bytes of shared memory that the circular buffers of one CTA may take."""
    return int(target.shared_bytes_per_cta_optin * _SHARE)


def is_pointwise(producer: PolyBlock, consumer: PolyBlock) -> bool:
    """Whether each instance reads the element that has its own indices, if any.

    Each row of all reads is then an axis of the consumer, later rows are later axes, or a constant: what an instance
    reads is one element, instances that differ in these axes only read them in the order in which they run, and those
    that differ in others only read the same. Rows with floor divisions are none of this, whatever values they have, nor
    is what a contraction or a scan reads, whose instances hand values to each other.
    """
    reads = [read.index for read in consumer.accesses if read.tensor == producer.name]
    if consumer.kind in ("contraction_pattern", "scan") or len(set(reads)) != 1:
        return False
    found: list[int] = []
    for row in reads[0]:
        if row.terms:
            atom, coefficient = row.terms[0]
            if len(row.terms) > 1 or row.constant != 0 or coefficient != 1 or not isinstance(atom, Axis):
                return False
            found.append(atom.position)
    return found == sorted(set(found))


def _streamed(producer: PolyBlock, consumer: PolyBlock, tile: Mapping[str, int] | None) -> dict[str, int]:
    """The tile with the axes that it leaves whole in steps, where the producer allows it."""
    sizes = smallest_tile(producer, consumer) if tile is None else dict(tile)
    reads = tuple(read for read in consumer.accesses if read.tensor == producer.name)
    pointwise = is_pointwise(producer, consumer)
    for position, name in enumerate(consumer.statement.axes):
        if name in sizes or not (pointwise or position in _summed_alone(consumer, reads)):
            continue
        step = {**sizes, name: 1 if pointwise else _STEP}
        if legality_at(producer, consumer, reads, step, quick=True).verdict == "ok":
            sizes = step
    return sizes


def _summed_alone(consumer: PolyBlock, reads: Sequence[PolyAccess]) -> frozenset[int]:
    """The reduce axes that rows have, and none together with another axis: those of no window."""
    rows = [axes.positions(row) for read in reads for row in read.index]
    summed = reduction_axes(consumer) & frozenset[int]().union(*rows)
    return frozenset(k for k in summed if all(row == frozenset({k}) for row in rows if k in row))


def _in_registers(producer: PolyBlock, at: ComputeAt, target: Target) -> MinBuffer:
    held = sum((each.elements for each in at.footprints), start=0) * element_bytes(producer)
    room = target.registers_per_cta * _REGISTER_BYTES // 2
    if extents.is_nonnegative(room - held):
        return MinBuffer("reg", None, held, "each instance takes the element that its thread made")
    fit = "do not" if isinstance(held, int) else "are not known to"
    return _in_global_memory(producer, f"{held} bytes a tile {fit} fit in half of the registers, {room} bytes")


def _in_circular_buffer(producer: PolyBlock, consumer: PolyBlock, at: ComputeAt, target: Target) -> MinBuffer:
    stage = sum((each.elements for each in at.footprints), start=0) * element_bytes(producer)
    room = circular_buffer_bytes(target)
    moving = (axes.positions(row) for each in at.footprints for read in each.reads for row in read.index)
    summed = reduction_axes(consumer) & frozenset[int]().union(*moving)
    statement = consumer.statement
    streams = any(at.tile[statement.axes[position]] != statement.shape[position] for position in summed)
    depth = 3 if streams and extents.is_nonnegative(room - stage * 3) else 2
    if extents.is_nonnegative(room - stage * depth):
        return MinBuffer("smem_ring", depth, stage * depth, f"{at.reason}; {depth} stages of {stage} bytes")
    fit = "do not" if isinstance(stage, int) else "are not known to"
    return _in_global_memory(producer, f"{depth} stages of {stage} bytes {fit} fit in {room} bytes of shared memory")


def _in_global_memory(producer: PolyBlock, reason: str) -> MinBuffer:
    return MinBuffer("gmem", None, extents.product(producer.written_shape) * element_bytes(producer), reason)
