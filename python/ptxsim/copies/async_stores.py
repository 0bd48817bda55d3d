"""`st.async` and `red.async`: stores and reductions in shared memory of the cluster that an mbarrier there counts.

Every active lane's is an operation of its own, which lands later (`transfer`); undefined ones are reported and left
out. Other stores and reductions go to `loads` and `atomics`. Source: PTX ISA 9.1 §9.7.9.12 (st.async), §9.7.13.8
(red.async); the forms on global memory are of sm_100.
"""

import numpy as np

from ptxsim.copies.bulk_forms import MBARRIER
from ptxsim.copies.bulk_operands import by_lane, shared_targets, update_of
from ptxsim.copies.endpoints import CopyUpdate, Range, Words
from ptxsim.copies.reduction import reduction_of
from ptxsim.copies.transfer import Issuer, start
from ptxsim.instructions import atomics, loads
from ptxsim.machine.addresses import VECTORS, address_reader, items
from ptxsim.machine.cta import Step
from ptxsim.machine.misuse import Misuse, require_aligned
from ptxsim.machine.site import Site, type_bits
from ptxsim.memory.windows import BASES, SPACE_OF_WINDOW, WINDOW_BITS

_STORED = frozenset({*(f"{kind}{bits}" for kind in "bus" for bits in (32, 64)), "f32", "f64"})
_MOST_BYTES = 16


def compile_st_async(site: Site) -> Step:
    """`st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbarrier];`, or any `st`."""
    words = list(site.instruction.modifiers)
    if words[:1] != ["async"]:
        return loads.compile_store(site)
    words = words[2:] if words[1:2] == ["weak"] else words[1:]
    space = _space(words)
    if words[:1] != [MBARRIER]:
        site.unknown()
    count = VECTORS[words.pop(1)] if words[1] in VECTORS else 1
    if len(words) != 2 or words[1] not in _STORED or count * type_bits(words[1]) > 8 * _MOST_BYTES:
        site.unknown()
    return _issue(site, space, words[1], count, None)


def compile_red_async(site: Site) -> Step:
    """`red.async.relaxed.cluster{.space}.mbarrier::complete_tx::bytes.op.type [a], b, [mbarrier];`, or any `red`."""
    words = list(site.instruction.modifiers)
    if words[:1] != ["async"]:
        return atomics.atomic(site)
    if words[1:3] != ["relaxed", "cluster"]:
        site.unknown()
    del words[:3]
    space = _space(words)
    if len(words) != 3 or words[0] != MBARRIER:
        site.unknown()
    reduction = reduction_of(*words[1:], destination="shared::cluster")
    if reduction is None:
        site.unknown()
    return _issue(site, space, words[2], 1, update_of(reduction, type_bits(words[2]) // 8))


def _space(words: list[str]) -> str:
    """Take the state space out of `words`."""
    return words.pop(0) if words[:1] == ["shared::cluster"] else "generic"


def _issue(site: Site, space: str, type_name: str, count: int, update: CopyUpdate | None) -> Step:
    where, value, barrier = site.operands(3)
    reads = [address_reader(site, each, space)[1] for each in (where, barrier)]
    reads += [site.reader(item, type_name) for item in items(value, count, site)]
    word = np.dtype(f"u{type_bits(type_name) // 8}")

    def issue(issuer: Issuer, operands: list[int]) -> None:
        to, at, *values = operands
        contents = np.array(values, word).view(np.uint8)
        _start(issuer, _shared(space, to), _shared(space, at), contents, update)

    return by_lane(issue, reads)


def _shared(space: str, where: int) -> int:
    """The shared address that an address of `space` is. Raises: Misuse where it is none."""
    if space != "generic":
        return where
    if SPACE_OF_WINDOW.get(where >> WINDOW_BITS) != "shared":
        raise Misuse("out-of-bounds", f"the generic address {where:#x} is not in shared memory")
    return where - BASES["shared"]


def _start(issuer: Issuer, to: int, barrier: int, contents: np.ndarray, update: CopyUpdate | None) -> None:
    """Start the operation of one lane. Raises: Misuse."""
    require_aligned("destination", to, len(contents))
    shape = Range(issuer.cta.shared, to, len(contents), width=len(contents))
    targets, signals = shared_targets(issuer.cta, "shared::cluster", shape, barrier)
    if update is not None:
        targets[0].require_written()
    start(issuer, Words(contents), targets, signals, update)


HANDLERS = {"st": compile_st_async, "red": compile_red_async}
