"""The instructions that only concern tensor maps: `tensormap`, `fence.proxy.tensormap`, `prefetch.tensormap`.

A kernel's parameter holds the bytes of a map (`tensor_maps.encoding`); a kernel may copy them elsewhere and replace
fields. A map is replaced as a whole: a weak write of its 128 bytes by the generic proxy, which copies see by the proxy
of tensor maps only behind fences. `prefetch.tensormap` changes no value.

Source: PTX ISA 9.1 §5.5.8 (Tensormap), §9.7.9.16 (prefetch), §9.7.9.28 (tensormap.replace), §9.7.13.5 (fence),
§9.7.13.16 (tensormap.cp_fenceproxy).
"""

from collections.abc import Iterator

import numpy as np

from ptxsim.copies.endpoints import Range
from ptxsim.copies.map_places import map_place, no_map
from ptxsim.errors import InputError
from ptxsim.instructions import cache_policy, fences
from ptxsim.machine.addresses import ADDRESSED_SPACES, address_reader
from ptxsim.machine.convergence import by_whole_warps
from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.memory_form import SCOPES
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.observer import AccessFacts, Region
from ptxsim.machine.site import Site
from ptxsim.memory.traffic import PASS_BYTES, SECTOR_BYTES
from ptxsim.parsing.syntax import Operand
from ptxsim.tensor_maps.encoding import DIMENSIONED, MAP_BYTES, MAP_MODES, map_mode, replace_field

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
_RELEASES = frozenset(f"proxy.tensormap::generic.release.{scope}" for scope in SCOPES)
_ACQUIRES = frozenset(f"proxy.tensormap::generic.acquire.{scope}" for scope in SCOPES)


def tensormap(site: Site) -> Step:
    """`tensormap.replace.tile.field…;`, `tensormap.cp_fenceproxy….release.scope.sync.aligned [to], [from], 128;`."""
    words = site.instruction.modifiers
    if words[:5] == _COPY and words[5:6] and words[5] in SCOPES and words[6:] == ("sync", "aligned"):
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
                target = map_place(one.cta, space, where, "replaced")
                target.require_written()
                contents = replace_field(target.read().tobytes(), field, ordinal, new)
                if contents is None:
                    raise no_map(target)
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
    if space == "global":
        one.launch.arrays.add(facts.kind, place.index, place.index + MAP_BYTES, MAP_BYTES, units)
    one.launch.observer.accessed(facts, one, place.memory, np.array([place.index]))


def _copy_and_release(site: Site) -> Step:
    """`tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128;`.

    The warp copies once, by its first lane.
    """
    target, source, size = site.operands(3)
    _require_map_size(site, size)
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
                given = map_place(one.cta, "shared", here, "replaced")
                taken = map_place(one.cta, "global", there, "replaced")
                given.require_written()
            except Misuse as misuse:
                one.report(misuse.kind, misuse.message)
            else:
                _tell(one, load, given)
                _write(one, store, taken, given.read())
        batch.launch.fences[site.name] += len(batch.warps)
        batch.launch.observer.map_fenced(batch, site.name)

    return by_whole_warps(site, act)


def map_fence(site: Site) -> Step:
    """`fence.proxy.tensormap::generic.release.scope;`, `….acquire.scope [map], 128;`, and the other fences."""
    form = ".".join(site.instruction.modifiers)
    if form in _ACQUIRES:
        return _acquire(site, f"fence.{form}")
    if form not in _RELEASES:
        return fences.fence(site)
    site.operands(0)

    def step(batch: Batch) -> None:
        batch.launch.fences[f"fence.{form}"] += len(batch.warps)
        batch.launch.observer.map_fenced(batch, f"fence.{form}")

    return step


def _acquire(site: Site, name: str) -> Step:
    """A fence of one map in global memory; lanes that name the same one acquire it together."""
    operand, size = site.operands(2)
    _require_map_size(site, size)
    read = address_reader(site, operand, "generic")[1]

    def step(batch: Batch) -> None:
        launch = batch.launch
        launch.fences[name] += len(batch.warps)
        addresses = np.broadcast_to(read(batch), batch.mask.shape)
        for where in np.unique(addresses[batch.mask]).tolist():
            lanes = batch.mask & (addresses == where)
            try:
                place = map_place(batch.cta, "generic", where, "acquired")
            except Misuse as misuse:
                batch.report(misuse.kind, misuse.message, lanes)
            else:
                maps = Region(launch.memory, np.full(lanes.sum(), place.index), MAP_BYTES)
                launch.observer.map_fenced(batch.narrowed(lanes), name, maps)

    return step


def _require_map_size(site: Site, operand: Operand) -> None:
    if site.constant(operand, "size of a tensor map") != MAP_BYTES:
        site.fail(f"a tensor map has {MAP_BYTES} bytes")


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


HANDLERS = {"fence": map_fence, "prefetch": prefetch, "tensormap": tensormap}
