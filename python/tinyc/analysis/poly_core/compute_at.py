"""Compute-at: may a producer be computed inside of a tile of its consumer, and what does that read beyond the tile.

For each tile of the consumer, the elements that its instances read are computed just before, into a buffer of the
tile's own: elements that several tiles read (a halo) are computed by each. Such a schedule is illegal where what one
result is made of is spread over tiles: a reduction over an axis that the tile cuts, or a scan along one. The maximum of
a softmax is reduced along the row that its reader goes over: no tile that cuts the row holds what it is made of.

The question is about two blocks, with the element-wise ones that they read; other blocks have run before. An
element-wise producer, as the mean of a normalisation is after its sum, may so be in tiles that its sum may not be in:
`make_fusable_groups` asks about all edges of a kernel, with one tile for all.
Specification 000 §1.6, §4.1; recipe on polyhedral analysis, §3 and §6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock, PolyItem
from tinyc.analysis.poly_core.dependences import Witness
from tinyc.analysis.poly_core.footprint import Footprint, beyond, footprints
from tinyc.analysis.poly_core.legality import Legality, legality_at
from tinyc.analysis.poly_core.recompute import recompute_factor
from tinyc.analysis.poly_core.tile import Tile, kept_axes, require_size, row_names, tile_of
from tinyc.expr import extents
from tinyc.expr.extents import Dim, ExtentError


@dataclass(frozen=True)
class Halo:
    """The part of the producer's tensor that a tile reads beyond its share, in bytes and in elements along each axis.

    `widths` are the elements along each axis altogether; the producer's axes have the names of its statement's. `bytes`
    counts each element once; `bytes_along` is the slab along one axis: its halo times the other widths.
    """

    bytes: Dim
    per_axis: Mapping[str, Dim]
    widths: Mapping[str, Dim]
    element_bytes: int

    @property
    def bytes_along(self) -> Mapping[str, Dim]:
        """The bytes of the halo along each axis, corners counted for both of theirs."""
        return {
            name: extents.product(size for other, size in self.widths.items() if other != name)
            * halo
            * self.element_bytes
            for name, halo in self.per_axis.items()
        }


_NO_HALO = Halo(bytes=0, per_axis={}, widths={}, element_bytes=1)


@dataclass(frozen=True)
class ComputeAt:
    """The answer: `verdict` is "ok", "illegal" or "unproved"; `reason` is for people.

    `tile` has the sizes that the answer is for; `recompute` is how often an element is computed on average, where that
    is a number; `footprints` are the boxes that a tile reads. What is not ok has an empty halo and none of these.
    """

    verdict: str
    reason: str
    halo: Halo = _NO_HALO
    witness: Witness | None = None
    tile: Mapping[str, Dim] = field(default_factory=dict[str, Dim])
    recompute: float | None = None
    footprints: tuple[Footprint, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it is known to be legal."""
        return self.verdict == "ok"


def element_bytes(block: PolyBlock) -> int:
    """The bytes of an element of the tensor that a block writes."""
    return block.element.size_bytes


def can_compute_at(producer: PolyItem, consumer: PolyItem, tile: Mapping[str, int] | None = None) -> ComputeAt:
    """Whether `producer` can be computed inside of each tile of `consumer`, and with what halo.

    `tile` has sizes by the names of the consumer's axes; one that is not named is whole. Names that only the producer
    has are of its axes. Without a tile, the answer is for the smallest one: an element at a time, but for the axes that
    have to be whole.

    Raises:
        ValueError: a size is not a whole number from 1 to `MAX_SIZE`, or no axis has its name.
    """
    for item in (producer, consumer):
        if isinstance(item, NonScopTensor):
            return _no("illegal", f"'{item.name}' is not quasi-affine: {item.reason}")
    assert isinstance(producer, PolyBlock)
    assert isinstance(consumer, PolyBlock)
    reads = tuple(read for read in consumer.accesses if read.tensor == producer.name)
    if not reads:
        return _no("illegal", f"'{consumer.name}' does not read '{producer.name}'")
    _require_names(producer, consumer, tile or {})
    sizes = smallest_tile(producer, consumer) if tile is None else tile
    order = legality_at(producer, consumer, reads, sizes)
    if order.verdict != "ok":
        return _no(order.verdict, order.reason, order)
    try:
        return _with_halo(producer, consumer, reads, tile_of(consumer, sizes))
    except ExtentError as error:
        return _no("unproved", f"how much of '{producer.name}' a tile of '{consumer.name}' reads: {error}")


def smallest_tile(producer: PolyBlock, consumer: PolyBlock) -> dict[str, int]:
    """A size of 1 for the kept axes of `consumer` that can be cut with `producer` inside of the tile.

    Axes are tried one after the other, each together with those before.
    """
    reads = tuple(read for read in consumer.accesses if read.tensor == producer.name)
    found: dict[str, int] = {}
    for position in sorted(kept_axes(consumer)):
        tile = {**found, consumer.statement.axes[position]: 1}
        quick = legality_at(producer, consumer, reads, tile, quick=True).verdict
        if quick == "ok" or (quick == "unproved" and legality_at(producer, consumer, reads, tile).verdict == "ok"):
            found = tile
    return found


def _no(verdict: str, reason: str, order: Legality | None = None) -> ComputeAt:
    return ComputeAt(verdict, reason, witness=order and order.witness)


def _require_names(producer: PolyBlock, consumer: PolyBlock, tile: Mapping[str, int]) -> None:
    for name, size in tile.items():
        if name not in (*consumer.statement.axes, *producer.statement.axes):
            raise ValueError(f"neither '{consumer.name}' nor '{producer.name}' has an axis {name}")
        require_size(size, name, consumer)


def _with_halo(producer: PolyBlock, consumer: PolyBlock, reads: tuple[PolyAccess, ...], tile: Tile) -> ComputeAt:
    found = footprints(consumer, reads, producer.written_shape, tile)
    unproved = next((each.unproved for each in found if each.unproved), None)
    if unproved is not None:
        return _no("unproved", f"how much of '{producer.name}' a tile of '{consumer.name}' reads: {unproved}")
    size = element_bytes(producer)
    own = extents.product(w - extra for w, extra in zip(found[0].widths, found[0].halo, strict=True))
    extra = sum((each.elements for each in found), start=0) - own
    names = row_names(producer)
    halos = [_most([each.halo[row] for each in found]) for row in range(len(names))]
    widths = [_most([each.widths[row] for each in found]) for row in range(len(names))]
    per_axis, across = dict(zip(names, halos, strict=True)), dict(zip(names, widths, strict=True))
    halo = Halo(bytes=extra * size, per_axis=per_axis, widths=across, element_bytes=size)
    return ComputeAt(
        verdict="ok",
        reason=_reason(producer, consumer, halo, found),
        halo=halo,
        tile=dict(zip(consumer.statement.axes, tile.sizes, strict=True)),
        recompute=recompute_factor(producer, consumer, tile, found),
        footprints=found,
    )


def _most(dims: list[Dim]) -> Dim:
    best = dims[0]
    for dim in dims[1:]:
        best = best + beyond(dim, best)
    return best


def _reason(producer: PolyBlock, consumer: PolyBlock, halo: Halo, found: tuple[Footprint, ...]) -> str:
    """The footprint of a tile of the consumer in the producer, for people."""
    box = "×".join(str(width) for width in halo.widths.values()) or "1"
    text = f"a tile of '{consumer.name}' reads {box} elements of '{producer.name}'"
    beside = {name: extra for name, extra in halo.per_axis.items() if extra != 0}
    if beside:
        text += ", beyond its own " + ", ".join(f"{extra} along {name}" for name, extra in beside.items())
        text += f" of '{producer.name}'"
    if len(found) > 1:
        text += f", in {len(found)} places"
    for each in found:
        if each.most != each.elements:
            text += f"; the box has {each.elements} elements for at most {each.most} that are read"
    return text
