"""Tensor maps as operands: which map an address names, and the instructions that only concern maps.

A kernel's parameter holds the bytes of a map (`tensor_maps.encoding`); a kernel may copy them elsewhere and replace
fields. A map is replaced as a whole: a weak write of its 128 bytes by the generic proxy, which copies see by the proxy
of tensor maps only behind fences. `prefetch.tensormap` changes no value.

Source: PTX ISA 9.1 §5.5.8 (Tensormap), §9.7.9.16 (prefetch), §9.7.9.28 (tensormap.replace), §9.7.13.16
(tensormap.cp_fenceproxy).
"""

from collections.abc import Iterator

import numpy as np

from ptxsim.copies.endpoints import Range, shared_place
from ptxsim.errors import InputError
from ptxsim.instructions import cache_policy
from ptxsim.machine.addresses import ADDRESSED_SPACES, address_reader
from ptxsim.machine.convergence import by_whole_warps
from ptxsim.machine.cta import Batch, Cta, Step
from ptxsim.machine.launch import Launch
from ptxsim.machine.misuse import Misuse, require_aligned
from ptxsim.machine.observer import AccessFacts
from ptxsim.machine.site import Site
from ptxsim.memory.traffic import PASS_BYTES, SECTOR_BYTES
from ptxsim.memory.windows import BASES, SPACE_OF_WINDOW, WINDOW_BITS
from ptxsim.parsing.syntax import Operand
from ptxsim.tensor_maps.encoding import (
    DIMENSIONED,
    MAP_BYTES,
    MAP_MODES,
    PlacedTensor,
    decode_map,
    map_mode,
    replace_field,
)

_ALIGNMENT = 64
_WORD = 8
_PREFETCHES = {
    ("tensormap",): "generic",
    ("param", "tensormap"): "param::entry",
    ("const", "tensormap"): "const",
}
_FIELDS = frozenset({"global_address", "rank", *DIMENSIONED, *MAP_MODES})
_WIDE_FIELDS = frozenset({"global_address", "global_stride"})
_SPACES = frozenset({"global", "shared::cta"})
_COPY = ("cp_fenceproxy", "global", "shared::cta", "tensormap::generic", "release")
_SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})


def map_at(launch: Launch, where: int) -> tuple[PlacedTensor, Range]:
    """The tensor map at a generic address, and its bytes.

    Raises: Misuse where the address is misaligned or names no memory of maps, and where no map is there.
    """
    require_aligned("tensor map", where, _ALIGNMENT)
    space = SPACE_OF_WINDOW.get(where >> WINDOW_BITS, "global")
    memory = {"param::entry": launch.arguments, "const": launch.constants, "global": launch.memory}.get(space)
    if memory is None:
        raise Misuse("out-of-bounds", f"a tensor map is in parameters, constant or global memory, not in {space}")
    place = Range(memory, where - BASES[space] - memory.base, MAP_BYTES)
    place.require_allocated("tensor map")
    try:
        tensor = decode_map(place.read().tobytes())
    except InputError as error:
        raise Misuse("out-of-bounds", error.message) from error
    if tensor is None:
        raise _no_map(place)
    return tensor, place


def _no_map(place: Range) -> Misuse:
    where = f"{place.memory.space} memory at {place.index + place.memory.base:#x}"
    return Misuse("uninitialized", f"the {MAP_BYTES} bytes of {where} are no tensor map")


def tensormap(site: Site) -> Step:
    """`tensormap.replace.tile.field…;`, `tensormap.cp_fenceproxy….release.scope.sync.aligned [to], [from], 128;`."""
    words = site.instruction.modifiers
    if words[:5] == _COPY and words[5:6] and words[5] in _SCOPES and words[6:] == ("sync", "aligned"):
        return _copy_and_release(site)
    fields, spaces = [word for word in words if word in _FIELDS], [word for word in words if word in _SPACES]
    if words[:1] != ("replace",) or len(fields) != 1 or len(spaces) > 1:
        site.unknown()
    return _replace(site, fields[0], ADDRESSED_SPACES[spaces[0]] if spaces else "generic")


def _replace(site: Site, field: str, space: str) -> Step:
    """`tensormap.replace.tile.field{.space}.b1024.type [map], {ordinal, }value;`; words may stand in any order."""
    type_name = "b64" if field in _WIDE_FIELDS else "b32"
    rest = [word for word in site.instruction.modifiers if word not in _SPACES and word != field]
    if sorted(rest) != sorted(("replace", "tile", "b1024", type_name)):
        site.unknown()
    place, *ordinals, value = site.operands(3 if field in DIMENSIONED else 2)
    space, addresses = address_reader(site, place, space)
    ordinal = _ordinal(site, field, ordinals[0]) if ordinals else 0
    if field in MAP_MODES:
        _check_mode(site, field, value)
    values = site.reader(value, type_name)
    site.decides(value, "a field of a tensor map")
    facts = AccessFacts(space, _WORD, MAP_BYTES // _WORD, site.index, "store")

    def step(batch: Batch) -> None:
        for one, where, new in _lanes(batch, addresses(batch), values(batch)):
            try:
                target = _place(one.cta, space, where)
                target.require_written()
                contents = replace_field(target.read().tobytes(), field, ordinal, new)
                if contents is None:
                    raise _no_map(target)
            except InputError as error:
                one.report("out-of-bounds", error.message)
            except Misuse as misuse:
                one.report(misuse.kind, misuse.message)
            else:
                _write(one, facts, target, np.frombuffer(contents, np.uint8))

    return step


def _ordinal(site: Site, field: str, operand: Operand) -> int:
    ordinal = site.constant(operand, "ordinal")
    if ordinal >= DIMENSIONED[field]:
        site.fail(f"field {field} has the ordinals 0 … {DIMENSIONED[field] - 1}, not {ordinal}")
    return ordinal


def _check_mode(site: Site, field: str, operand: Operand) -> None:
    """Check that the value of a mode is a constant that the simulator models."""
    try:
        map_mode(field, site.constant(operand, "mode"))
    except InputError as error:
        site.fail(error.message)


def _lanes(batch: Batch, *operands: np.ndarray) -> Iterator[tuple[Batch, *tuple[int, ...]]]:
    """Each active lane as a batch of its own, with its values of the operands."""
    columns = [np.broadcast_to(each, batch.mask.shape) for each in operands]
    for row, lane in np.argwhere(batch.mask).tolist():
        mask = np.zeros_like(batch.mask)
        mask[row, lane] = True
        yield batch.narrowed(mask), *(int(each[row, lane]) for each in columns)


def _place(cta: Cta, space: str, where: int) -> Range:
    """The bytes of a map that is to be changed. Raises: Misuse where they are no global or shared memory."""
    require_aligned("tensor map", where, _ALIGNMENT)
    if space == "generic":
        space = SPACE_OF_WINDOW.get(where >> WINDOW_BITS, "global")
        where -= BASES[space]
    if space == "shared":
        owner, index = shared_place(cta, where, "shared::cta")
        place = Range(owner.shared, index, MAP_BYTES, owner=owner)
    elif space == "global":
        place = Range(cta.launch.memory, where - cta.launch.memory.base, MAP_BYTES)
    else:
        raise Misuse("out-of-bounds", f"a tensor map is replaced in shared or global memory, not in {space}")
    place.require_allocated("tensor map")
    return place


def _write(one: Batch, facts: AccessFacts, target: Range, contents: np.ndarray) -> None:
    """Set the bytes of a map as a store of one lane."""
    _tell(one, facts, target)
    one.launch.progress += not one.launch.watched or target.read().tobytes() != contents.tobytes()
    target.write(contents)


def _tell(one: Batch, facts: AccessFacts, place: Range) -> None:
    """Count the access of one lane to the bytes of a map, and tell the observer of it."""
    space = place.memory.space
    units = MAP_BYTES // (SECTOR_BYTES if space == "global" else PASS_BYTES)
    one.launch.tally(facts.number, facts.kind, space, MAP_BYTES).add(1, 1, units, units)
    one.launch.observer.accessed(facts, one, place.memory, np.array([place.index]))


def _copy_and_release(site: Site) -> Step:
    """`tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128;`.

    The warp copies once, by its first lane.
    """
    target, source, size = site.operands(3)
    if site.constant(size, "size of a tensor map") != MAP_BYTES:
        site.fail(f"a tensor map has {MAP_BYTES} bytes")
    to, origin = address_reader(site, target, "global")[1], address_reader(site, source, "shared")[1]
    load, store = (
        AccessFacts(space, _WORD, MAP_BYTES // _WORD, site.index, kind)
        for space, kind in (("shared", "load"), ("global", "store"))
    )

    def act(batch: Batch) -> None:
        first = np.zeros_like(batch.mask)
        first[np.arange(len(first)), batch.mask.argmax(axis=1)] = True
        places = [np.broadcast_to(read(batch), batch.mask.shape) for read in (to, origin)]
        if any((each != each[first][:, None])[batch.mask].any() for each in places):
            batch.report("barrier-divergence", f"the lanes of a warp give {site.name} different addresses")
        for one, there, here in _lanes(batch.narrowed(first), *places):
            try:
                given, taken = _place(one.cta, "shared", here), _place(one.cta, "global", there)
                given.require_written()
            except Misuse as misuse:
                one.report(misuse.kind, misuse.message)
            else:
                _tell(one, load, given)
                _write(one, store, taken, given.read())
        batch.launch.fences[site.name] += len(batch.warps)
        batch.launch.observer.map_fenced(batch, site.name)

    return by_whole_warps(site, act)


def prefetch(site: Site) -> Step:
    """`prefetch{.param|.const}.tensormap [a];`, and the other prefetches."""
    words = site.instruction.modifiers
    if "tensormap" not in words:
        return cache_policy.hint(site)
    if words not in _PREFETCHES:
        site.unknown()
    (place,) = site.operands(1)
    address_reader(site, place, _PREFETCHES[words])
    return lambda batch: None


HANDLERS = {"prefetch": prefetch, "tensormap": tensormap}
