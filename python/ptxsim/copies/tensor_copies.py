"""Tensor copies: `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`.

Every active lane issues a copy of its own, of the box at its coordinates of the tensor map that its address names,
which lands later (`transfer`). Undefined ones are reported and left out.
Source: PTX ISA 9.1 §9.7.9.27.1; §5.5 (Tensors).
"""

from ptxsim.copies.bulk_forms import BulkForm
from ptxsim.copies.bulk_groups import bulk_groups
from ptxsim.copies.bulk_operands import by_lane, read_policy, shared_targets, update_of
from ptxsim.copies.endpoints import CopyUpdate, Range, Tile, shared_place
from ptxsim.copies.map_places import map_at
from ptxsim.copies.reduction import reduction_of
from ptxsim.copies.tensor_boxes import FAR, box_of
from ptxsim.copies.transfer import Issuer, start
from ptxsim.machine.addresses import ADDRESSED_SPACES, address_reader
from ptxsim.machine.cta import Read, Step
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.observer import Region
from ptxsim.machine.site import Site
from ptxsim.parsing.syntax import Address, TensorAddress, Vector
from ptxsim.tensor_maps.tensor_layout import TensorLayout


def tensor(site: Site, form: BulkForm) -> Step:
    """Compile a copy, reduction or prefetch of a box of a tensor.

    Load: `[destination], [map, {coordinates}], [mbarrier]{, {im2col offsets}}{, ctaMask}{, cache-policy};`, store and
    reduction: `[map, {coordinates}], [source]{, cache-policy};`, prefetch: `[map, {coordinates}]{, …};`.
    """
    loads, prefetches = form.source == "global" and form.verb == "copy", form.verb == "prefetch"
    moved = form.mode == "im2col"
    operands = list(site.operands((3 if loads else 1 if prefetches else 2) + moved + form.multicast + form.hinted))
    reads = _box_reads(site, form, operands.pop(1 if loads else 0))
    if not prefetches:
        space = form.destination if loads else form.source
        reads.append(address_reader(site, operands.pop(0), ADDRESSED_SPACES[space])[1])
    if loads:
        reads.append(address_reader(site, operands.pop(0), "shared::cluster")[1])
    offsets = _offset_reads(site, form, operands.pop(0)) if moved else []
    if form.multicast:
        reads.append(site.reader(operands[0], "u16"))
    read_policy(site, form)
    act = _load if loads else _look if prefetches else _store
    first = len(reads)

    def issue(issuer: Issuer, values: list[int]) -> None:
        act(form, issuer, values[:first], values[first:] if form.mode != "tile" else None)

    return by_lane(issue, reads + offsets)


def _box_reads(site: Site, form: BulkForm, operand: object) -> list[Read]:
    """The readers of the address of the tensor map and of the coordinates."""
    if not isinstance(operand, TensorAddress) or operand.extra or len(operand.coordinates) != form.rank:
        site.fail(f"the address of a tensor map and {form.rank} coordinates are expected: [map, {{…}}]")
    where = address_reader(site, Address(operand.base, operand.offset), "generic")[1]
    return [where, *(site.reader(each, "s32") for each in operand.coordinates)]


def _offset_reads(site: Site, form: BulkForm, operand: object) -> list[Read]:
    if not isinstance(operand, Vector) or len(operand.items) != form.rank - 2:
        site.fail(f"a vector of {form.rank - 2} im2col offsets is expected")
    return [site.reader(each, "u16") for each in operand.items]


def _map_and_box(
    form: BulkForm, issuer: Issuer, values: list[int], shared: int, offsets: list[int] | None
) -> tuple[TensorLayout, Tile, Region | None]:
    """The tensor, the box in global memory, and the bytes of the map where they are there, too. Raises: Misuse."""
    launch = issuer.cta.launch
    tensor, place = map_at(issuer.cta, values[0])
    coordinates = [value - (value >> 31 << 32) for value in values[1 : form.rank + 1]]
    box = box_of(tensor.layout, coordinates, shared, offsets)
    index = tensor.address - launch.memory.base
    if index >= FAR:
        raise Misuse("out-of-bounds", f"the tensor map has its tensor at {tensor.address:#x}, where there is no memory")
    tile = Tile(launch.memory, index, box)
    # Only of a map that no kernel can have written is it known that the tensor is in the array that the host gave.
    if place.memory is not launch.arguments or tensor.layout.reach_bytes > tensor.array_bytes:
        tile.require_allocated()
    return tensor.layout, tile, place.regions[0] if place.memory is launch.memory else None


def _load(form: BulkForm, issuer: Issuer, values: list[int], offsets: list[int] | None) -> None:
    """Start a load of one lane. Raises: Misuse."""
    to, barrier, *cta_mask = values[form.rank + 1 :]
    tensor, tile, place = _map_and_box(form, issuer, values, to, offsets)
    shape = Range(issuer.cta.shared, to, tile.box.byte_count, tensor.swizzle)
    targets, signals = shared_targets(issuer.cta, form.destination, shape, barrier, *cta_mask)
    start(issuer, tile, targets, signals, tensor_map=place)


def _store(form: BulkForm, issuer: Issuer, values: list[int], offsets: list[int] | None) -> None:
    """Start a store or reduction of one lane. Raises: Misuse."""
    origin = values[form.rank + 1]
    tensor, tile, place = _map_and_box(form, issuer, values, origin, offsets)
    owner, offset = shared_place(issuer.cta, origin, form.source)
    source = Range(owner.shared, offset, tile.box.byte_count, tensor.swizzle, owner)
    source.require_allocated("source of the copy")
    source.require_written(tile.box)
    transfer = start(issuer, source, [tile], update=_update(form, tensor), tensor_map=place)
    bulk_groups(issuer.cta).add(transfer, issuer.thread)


def _look(form: BulkForm, issuer: Issuer, values: list[int], offsets: list[int] | None) -> None:
    """Check a prefetch of one lane, which changes no value. Raises: Misuse."""
    _map_and_box(form, issuer, values, 0, offsets)


def _update(form: BulkForm, tensor: TensorLayout) -> CopyUpdate | None:
    """The update of the bytes of the box by a reduction. Raises: Misuse where the map's type has no such one."""
    if form.verb != "reduce":
        return None
    reduction = reduction_of(form.operator, tensor.element_type, "tensor")
    if reduction is None:
        message = f"there is no reduction .{form.operator} of a tensor of elements of type {tensor.element_type}"
        raise Misuse("out-of-bounds", message)
    return update_of(reduction, tensor.element_bytes)
