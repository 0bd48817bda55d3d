"""Bulk copies of plain ranges: `cp.async.bulk`, `cp.reduce.async.bulk`, `cp.async.bulk.prefetch`.

Every active lane issues a copy of its own, which lands later (`transfer`). Undefined ones are reported and left out.
Source: PTX ISA 9.1 §9.7.9.25.4.
"""

from ptxsim.copies.bulk_forms import BulkForm
from ptxsim.copies.bulk_groups import bulk_groups
from ptxsim.copies.bulk_operands import by_lane, read_policy, shared_targets, update_of
from ptxsim.copies.bulk_rules import require_bulk
from ptxsim.copies.endpoints import CopyUpdate, Range, shared_place
from ptxsim.copies.transfer import Issuer, start
from ptxsim.machine.addresses import ADDRESSED_SPACES, address_reader
from ptxsim.machine.cta import Cta, Read, Step
from ptxsim.machine.site import Site, type_bits


def bulk(site: Site, form: BulkForm) -> Step:
    """Compile a copy, reduction or prefetch of a plain range."""
    return _prefetch(site, form) if form.verb == "prefetch" else _ranges(site, form)


def _ranges(site: Site, form: BulkForm) -> Step:
    """`[destination], [source], size{, [mbarrier]}{, ctaMask}{, cache-policy};`."""
    signals = form.destination != "global"
    operands = site.operands(3 + signals + form.multicast + form.hinted)
    reads = [
        address_reader(site, operands[0], ADDRESSED_SPACES[form.destination])[1],
        address_reader(site, operands[1], ADDRESSED_SPACES[form.source])[1],
        site.reader(operands[2], "u32"),
    ]
    if signals:
        reads.append(address_reader(site, operands[3], "shared::cluster")[1])
    if form.multicast:
        reads.append(site.reader(operands[4], "u16"))
    read_policy(site, form)
    update = update_of(form.reduction, type_bits(form.element) // 8) if form.reduction else None

    return by_lane(lambda issuer, values: _issue(form, issuer, values, update), reads)


def _issue(form: BulkForm, issuer: Issuer, values: list[int], update: CopyUpdate | None) -> None:
    """Start the copy of one lane. Raises: Misuse."""
    to, origin, size, *rest = values
    require_bulk(to, origin, size)
    cta = issuer.cta
    source = _end(cta, form.source, origin, size)
    source.require_allocated("source of the copy")
    if form.destination == "global":
        targets, signals = [_end(cta, "global", to, size)], []
        targets[0].require_allocated("destination of the copy")
    else:
        targets, signals = shared_targets(cta, form.destination, Range(cta.shared, to, size), *rest)
    for endpoint in (source, *targets) if update else (source,):
        endpoint.require_written()
    transfer = start(issuer, source, targets, signals, update)
    if form.destination == "global":
        bulk_groups(cta).add(transfer, issuer.thread)


def _end(cta: Cta, space: str, place: int, size: int) -> Range:
    if space == "global":
        memory = cta.launch.memory
        return Range(memory, place - memory.base, size)
    owner, offset = shared_place(cta, place, space)
    return Range(owner.shared, offset, size, owner=owner)


def _prefetch(site: Site, form: BulkForm) -> Step:
    """`cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [source], size{, cache-policy};`: it changes no value."""
    operands = site.operands(2 + form.hinted)
    reads: list[Read] = [address_reader(site, operands[0], "global")[1], site.reader(operands[1], "u32")]
    read_policy(site, form)

    def look(_: Issuer, values: list[int]) -> None:
        origin, size = values
        require_bulk(0, origin, size)

    return by_lane(look, reads)
