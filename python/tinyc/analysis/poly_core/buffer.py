"""The smallest kind of memory that holds a producer's elements between it and its consumer.

Registers where every instance of the consumer takes the element that its own thread made (or one for a whole row of
them); a ring of stages in shared memory where elements are read in other places than they are made in; global memory
where a tile of the consumer cannot hold its producer, or the ring does not fit. Specification 000 §1.6, §4.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis import axis as axes
from tinyc.analysis import extents
from tinyc.analysis.axis import Axis
from tinyc.analysis.extents import Dim
from tinyc.analysis.poly_block import NonScopTensor, PolyAccess, PolyBlock
from tinyc.analysis.poly_core.compute_at import ComputeAt, can_compute_at, element_bytes, smallest_tile
from tinyc.analysis.poly_core.order import order_at
from tinyc.analysis.poly_core.tile import reduce_axes
from tinyc.target import SM80
from tinyc.target.target import Target

#: Of an axis that a contraction sums and that the tile does not name, what a stage holds: the k of a 16-bit MMA.
_STEP = 16
#: Of the shared memory that a block can have, what its rings may take (specification 000 §4.2).
_SHARE = 0.8
_REGISTER_BYTES = 4


@dataclass(frozen=True)
class MinBuffer:
    """`buffer` is "reg", "smem_ring" (of `depth` stages) or "gmem", and why.

    `bytes` are those of one block of threads; the whole tensor's for "gmem".
    """

    buffer: str
    depth: int | None
    bytes: Dim
    reason: str


def min_buffer_for_edge(
    producer: PolyBlock | NonScopTensor,
    consumer: PolyBlock | NonScopTensor,
    tile: Mapping[str, int] | None = None,
    target: Target = SM80,
) -> MinBuffer:
    """Return the smallest buffer in which `consumer`, tile by tile, can take what `producer` makes.

    `tile` is that of `can_compute_at`. Axes that the tile does not name are streamed where the order allows it: their
    elements are taken one after the other.

    Raises:
        ValueError: a size is no positive whole number, or no axis has its name.
    """
    at = can_compute_at(producer, consumer, tile)
    if not isinstance(producer, PolyBlock) or not isinstance(consumer, PolyBlock):
        return MinBuffer("gmem", None, 0, at.reason)
    if not at.ok:
        return _in_global_memory(producer, at.reason)
    streamed = can_compute_at(producer, consumer, _streamed(producer, consumer, tile))
    if is_pointwise(producer, consumer):
        return _in_registers(producer, streamed, target)
    return _in_ring(producer, consumer, streamed, target)


def shared_bytes_for_rings(target: Target) -> int:
    """Return the bytes of shared memory that the rings of one block may take."""
    return int(target.shared_bytes_per_block_optin * _SHARE)


def is_pointwise(producer: PolyBlock, consumer: PolyBlock) -> bool:
    """Say whether each instance reads one element, in the order in which the elements are made, or fewer of them."""
    reads = [read.index for read in consumer.accesses if read.tensor == producer.name]
    if consumer.kind in ("contraction_pattern", "scan") or len(set(reads)) != 1:
        return False
    found = []
    for row in reads[0]:
        if row.terms:
            atom, coefficient = row.terms[0]
            if len(row.terms) > 1 or row.constant != 0 or coefficient != 1 or not isinstance(atom, Axis):
                return False
            found.append(atom.position)
    return found == sorted(set(found))


def _streamed(producer: PolyBlock, consumer: PolyBlock, tile: Mapping[str, int] | None) -> dict[str, int]:
    """Return the tile with the axes that it leaves whole in steps, where the producer allows it."""
    sizes = smallest_tile(producer, consumer) if tile is None else dict(tile)
    reads = tuple(read for read in consumer.accesses if read.tensor == producer.name)
    pointwise = is_pointwise(producer, consumer)
    for position, name in enumerate(consumer.statement.axes):
        if name in sizes or not (pointwise or position in _summed_alone(consumer, reads)):
            continue
        step = {**sizes, name: 1 if pointwise else _STEP}
        if order_at(producer, consumer, reads, step, quick=True).verdict == "ok":
            sizes = step
    return sizes


def _summed_alone(consumer: PolyBlock, reads: Sequence[PolyAccess]) -> frozenset[int]:
    """Return the reduce axes that no row has together with another axis: those of no window."""
    rows = [axes.positions(row) for read in reads for row in read.index]
    return frozenset(k for k in reduce_axes(consumer) if all(row == {k} for row in rows if k in row))


def _in_registers(producer: PolyBlock, at: ComputeAt, target: Target) -> MinBuffer:
    held = sum((each.elements for each in at.footprints), start=0) * element_bytes(producer)
    room = target.registers_per_block * _REGISTER_BYTES // 2
    if extents.is_nonnegative(room - held):
        return MinBuffer("reg", None, held, "each instance takes the element that its thread made")
    return _in_global_memory(producer, f"{held} bytes a tile are more than half of the registers, {room} bytes")


def _in_ring(producer: PolyBlock, consumer: PolyBlock, at: ComputeAt, target: Target) -> MinBuffer:
    stage = sum((each.elements for each in at.footprints), start=0) * element_bytes(producer)
    room = shared_bytes_for_rings(target)
    summed = [consumer.statement.axes[position] for position in reduce_axes(consumer)]
    streams = any(at.tile[name] != consumer.statement.shape[consumer.statement.axes.index(name)] for name in summed)
    depth = 3 if streams and extents.is_nonnegative(room - stage * 3) else 2
    if extents.is_nonnegative(room - stage * depth):
        return MinBuffer("smem_ring", depth, stage * depth, f"{at.reason}; {depth} stages of {stage} bytes")
    return _in_global_memory(producer, f"{depth} stages of {stage} bytes do not fit in {room} bytes of shared memory")


def _in_global_memory(producer: PolyBlock, reason: str) -> MinBuffer:
    return MinBuffer("gmem", None, extents.product(producer.written_shape) * element_bytes(producer), reason)
