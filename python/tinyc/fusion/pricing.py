"""What a kernel of a group would cost on a machine: the scheme that takes it, its resources, and its time by terms.

``seconds = launch + max(flops / (peak * fill), bytes / (bandwidth * fill))``, `fill` being the part of the machine that
the kernel has work for, and that fits on it at a time. Where a scheme has a model of its products, these take the time
that it predicts, beside the other flops. Every term is kept, for the ledger. A symbolic extent counts as
`extents.USUAL_EXTENT`, so that a decision does not depend on the inputs of a run. Source: specification 000 §5, §6.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from tinyc.analysis.candidate import Candidate
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.tile import kept_axes, reduction_axes
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis
from tinyc.expr.extents import Dim, ExtentError
from tinyc.fusion.form import Form, form_of
from tinyc.fusion.graph import NodeKind
from tinyc.fusion.group import Anchor, Group, Inlined, group_of_node, members_of, moved_axes, results_of
from tinyc.fusion.group_candidate import candidate_of
from tinyc.schemes.registry import kinds_of
from tinyc.schemes.scheme import Acceptance, KernelKind, Resources
from tinyc.target import Machine
from tinyc.target.machine import Rates
from tinyc.target.target import Target
from tinyc.vocabulary.types import TensorType

#: Registers of a thread besides its accumulators: addresses, indices, values of the moment.
_OTHER_REGISTERS = 40
#: The turns of a loop that fill lanes.
_FEWEST_LANES = 8


@dataclass(frozen=True)
class Cost:
    """The predicted time of one kernel by its terms: bytes, f32 operations, parts of the machine, seconds.

    `fill` is the part of the machine's rates that it reaches, `ctas_per_sm` how many CTAs are resident (0 on a CPU).
    `repeats` is how often an element of a reduction is computed, at the most: more than once where that is inlined.
    """

    read_bytes: float
    written_bytes: float
    flops: float
    fill: float
    ctas_per_sm: int
    memory_seconds: float
    compute_seconds: float
    launch_seconds: float
    repeats: float

    @property
    def seconds(self) -> float:
        """The predicted time."""
        return self.launch_seconds + max(self.memory_seconds, self.compute_seconds)

    @property
    def terms(self) -> dict[str, float]:
        """The terms as numbers for people and files, times in microseconds."""
        return {
            "read_bytes": round(self.read_bytes),
            "written_bytes": round(self.written_bytes),
            "flops": round(self.flops),
            "fill": four_digits(self.fill),
            "memory_us": four_digits(self.memory_seconds * 1e6),
            "compute_us": four_digits(self.compute_seconds * 1e6),
            "launch_us": four_digits(self.launch_seconds * 1e6),
            "us": four_digits(self.seconds * 1e6),
        }


@dataclass(frozen=True)
class Priced:
    """A candidate with the scheme that takes it, its resources, and what it costs: what choices are made among.

    The candidate is the first of its form: a group of other nodes that has the same form has it, too.
    """

    candidate: Candidate
    scheme: str
    resources: Resources
    cost: Cost


class Pricing:
    """The prices of groups on a machine, by the first of `kinds` that accepts them."""

    def __init__(self, machine: Machine, kinds: Sequence[KernelKind[Any]] | None = None) -> None:
        self.machine = machine
        self.kinds = kinds_of(machine) if kinds is None else kinds
        self._known = WeakKeyDictionary[Group, Priced]()
        self._forms: dict[Form, tuple[Priced, Work]] = {}

    def of(self, group: Group) -> Priced:
        """The price of a group; the last of the schemes takes any."""
        found = self._known.get(group)
        if found is None:
            found = self._known[group] = self._priced(group)
        return found

    def least_seconds(self, groups: Sequence[Group]) -> float:
        """A time that no choice of kernels for the nodes of some groups goes below.

        Each contraction is a kernel, each tensor from outside is read once, each that is needed outside is written
        once, each node is computed once.
        """
        graph, rates = groups[0].graph, self.machine.rates
        members, inside = members_of(groups), results_of(groups)
        nodes = [graph.nodes[name] for name in members if graph.nodes[name].bound is None]
        wanted = {n.name for n in nodes if n.name in inside and (n.is_output or not members.issuperset(n.readers))}
        read = {tensor for group in groups for tensor in group.reads} - inside
        moved = sum(tensor_bytes(graph.types[tensor]) for tensor in read | wanted)
        computing = 0.0
        for node in nodes:
            is_product = node.kind is NodeKind.CONTRACTION
            rate = rates.product_flops_per_second if is_product else rates.flops_per_second
            computing += self.of(group_of_node(graph, node)).cost.flops / rate
        kernels = max(1, sum(node.kind is NodeKind.CONTRACTION for node in nodes))
        return kernels * rates.launch_seconds + max(moved / rates.bytes_per_second, computing)

    def _priced(self, group: Group) -> Priced:
        form = form_of(group)
        if form not in self._forms:
            self._forms[form] = self._first_of_form(group)
        first, work = self._forms[form]
        flops = work.flops_of(group)
        if flops == first.cost.flops:
            return first
        seconds = self._compute_seconds(flops, work, first.resources, first.cost.fill)
        return replace(first, cost=replace(first.cost, flops=flops, compute_seconds=seconds))

    def _first_of_form(self, group: Group) -> "tuple[Priced, Work]":
        """The price of a group whose form is new, and what holds for all groups of its form."""
        candidate = candidate_of(group)
        scheme, resources = self._taken(candidate)
        rates, work = self.machine.rates, Work(group, resources, self.machine.rates)
        (fill, resident), flops = self._fill(resources), work.flops_of(group)
        cost = Cost(
            read_bytes=work.read_bytes,
            written_bytes=work.written_bytes,
            flops=flops,
            fill=fill,
            ctas_per_sm=resident,
            memory_seconds=(work.read_bytes + work.written_bytes) / (rates.bytes_per_second * fill),
            compute_seconds=self._compute_seconds(flops, work, resources, fill),
            launch_seconds=rates.launch_seconds,
            repeats=max(work.times, default=1.0),
        )
        return Priced(candidate, scheme, resources, cost), work

    def _compute_seconds(self, flops: float, work: "Work", resources: Resources, fill: float) -> float:
        """The time of all operations; of products as the scheme predicts it, if it does."""
        rate = self.machine.rates.flops_per_second * fill
        if resources.product_seconds is None:
            return flops / rate
        return resources.product_seconds + (flops - work.product_flops) / rate

    def _taken(self, candidate: Candidate) -> tuple[str, Resources]:
        """The first scheme that takes a candidate, and its resources."""
        for kind in self.kinds:
            try:
                answer = kind.accepts(candidate, self.machine)
            except ExtentError:
                continue
            if isinstance(answer, Acceptance):
                return kind.name, answer.resources
        one = Resources((1, 1, 1), 1, inlines_reductions=True)  # it is refused where it is built, with the reason
        return self.kinds[-1].name, one

    def _fill(self, resources: Resources) -> tuple[float, int]:
        """The part of the machine that a kernel keeps busy, and its CTAs on a multiprocessor."""
        ctas = max(math.prod(map(nominal, resources.grid)), 1)
        accesses = ctas * resources.threads_per_cta * resources.accesses_in_flight
        work = min(1.0, accesses / self.machine.rates.parallel_threads)
        if not isinstance(self.machine, Target):
            return work, 0
        work = min(work, ctas / self.machine.sms)
        resident = ctas_per_sm(resources, self.machine)
        in_flight = resident * resources.threads_per_cta * resources.accesses_in_flight
        occupancy = min(1.0, in_flight / (self.machine.threads_per_sm / 2))
        return max(min(work, occupancy), 1e-6), resident


def ctas_per_sm(resources: Resources, target: Target) -> int:
    """How many CTAs a multiprocessor has room for, by estimate; 0 where it has for none (000 §5)."""
    registers = (_OTHER_REGISTERS + resources.accumulator_registers_per_thread) * resources.threads_per_cta
    shared = resources.shared_bytes + target.shared_bytes_per_cta_reserved
    return min(
        target.shared_bytes_per_sm // shared,
        target.registers_per_sm // registers,
        target.threads_per_sm // resources.threads_per_cta,
        target.ctas_per_sm,
    )


class Work:
    """What the kernels of the groups of one form compute and move; `group` is one of them."""

    def __init__(self, group: Group, resources: Resources, rates: Rates) -> None:
        self._group, self._resources, self._rates = group, resources, rates
        self._inlined_flops: dict[tuple[int, Inlined], float] = {}

    @functools.cached_property
    def times(self) -> Sequence[float]:
        """How often each anchor is computed: once, but for a reduction that is inlined, which is as often as read."""
        anchors = {anchor.node.name: anchor for anchor in self._group.anchors}
        times: dict[str, float] = dict.fromkeys(anchors, 1.0)
        if self._resources.inlines_reductions:
            for anchor in reversed(self._group.anchors):
                for read in anchor.block.accesses:
                    producer = anchors.get(read.tensor)
                    if producer is not None and not producer.node.is_inline:
                        again = times[anchor.node.name] * _instances(anchor.block) / _elements(producer.block)
                        times[read.tensor] = max(times[read.tensor], again)
        return [times[anchor.node.name] for anchor in self._group.anchors]

    def flops_of(self, group: Group) -> float:
        """The operations of a group: those of its anchors, and of what they compute where they read it."""
        flops, dear = 0.0, [0.0]
        for number, (times, own, anchor) in enumerate(zip(self.times, self._own_flops, group.anchors, strict=True)):
            again = [(each.is_special, self._again(number, each) * count) for each, count in anchor.inlined.items()]
            flops += times * (own + sum(each for is_special, each in again if not is_special))
            dear.append(times * sum(each for is_special, each in again if is_special))
        return flops + (max(dear) if self._resources.shares_dear_values else sum(dear))

    @functools.cached_property
    def product_flops(self) -> float:
        """The operations of its contractions themselves."""
        pairs = zip(self.times, self._own_flops, self._group.anchors, strict=True)
        return sum(times * own for times, own, anchor in pairs if anchor.node.kind is NodeKind.CONTRACTION)

    @functools.cached_property
    def _own_flops(self) -> Sequence[float]:
        return [self._flops_of(anchor) for anchor in self._group.anchors]

    def _flops_of(self, anchor: Anchor) -> float:
        """The operations of an anchor itself."""
        block, node = anchor.block, anchor.node
        if node.kind is NodeKind.CONTRACTION:
            return 2.0 * _instances(block)
        if node.kind is NodeKind.SCAN:
            return float(_elements(block))
        if block.kind == "movement_affine":
            return 0.0
        return _instances(block) * (self._rates.special_function_flops if node.is_special else 1.0)

    def _again(self, number: int, inlined: Inlined) -> float:
        """The operations of one node that an anchor, by its number, computes where it reads it."""
        key = number, inlined
        if key not in self._inlined_flops:
            anchor, rates = self._group.anchors[number], self._rates
            flops = rates.special_function_flops if inlined.is_special else 1
            if any(_is_scattered(read, anchor.block) for read in anchor.block.accesses if _is_of(read, inlined)):
                flops = max(flops, rates.scattered_flops)
            self._inlined_flops[key] = self._times(anchor, inlined.moved) * flops
        return self._inlined_flops[key]

    def _times(self, anchor: Anchor, moved: frozenset[int]) -> float:
        """How often an anchor computes what it reads along the axes `moved`: a staged tile's element once a tile."""
        shape = anchor.block.statement.shape
        if anchor.node.kind is NodeKind.SCAN:
            moved &= kept_axes(anchor.block)  # it carries what it has so far
        once = float(math.prod(nominal(shape[axis]) for axis in moved))
        tile = self._resources.product_tile
        if anchor.node.kind is not NodeKind.CONTRACTION or tile is None or not moved & reduction_axes(anchor.block):
            return once
        across = [axis for axis in kept_axes(anchor.block) if axis not in moved]
        last = max(kept_axes(anchor.block), default=0) in moved
        size = tile[0] if last else tile[1]
        return once * math.ceil(math.prod(nominal(shape[axis]) for axis in across) / size)

    @functools.cached_property
    def read_bytes(self) -> float:
        """The bytes that are read of memory, what several phases read once."""
        types = self._group.graph.types
        touched: dict[str, float] = {}
        for anchor in self._group.anchors:
            shape = anchor.block.statement.shape
            for read in anchor.block.accesses:
                moved = math.prod(nominal(shape[axis]) for axis in moved_axes(read))
                touched[read.tensor] = touched.get(read.tensor, 0.0) + moved
        found = 0.0
        written = sum(map(tensor_elements, (types[name].shape for name in self._group.results)))
        for tensor in self._group.reads:
            elements = tensor_elements(types[tensor].shape)
            found += min(elements, touched.get(tensor, written)) * types[tensor].element.size_bytes
        return found

    @functools.cached_property
    def written_bytes(self) -> float:
        """The bytes that are written to memory."""
        return float(sum(tensor_bytes(self._group.graph.types[name]) for name in self._group.results))


def nominal(dim: Dim) -> int:
    """An extent as a number."""
    return (
        dim
        if isinstance(dim, int)
        else max(extents.evaluate(dim, dict.fromkeys(extents.symbols(dim), extents.USUAL_EXTENT)), 1)
    )


def tensor_elements(shape: Sequence[Dim]) -> int:
    """The elements of a tensor, as a number."""
    return math.prod(map(nominal, shape))


def tensor_bytes(tensor: TensorType) -> int:
    """The bytes of a tensor, as a number."""
    return tensor_elements(tensor.shape) * tensor.element.size_bytes


def four_digits(value: float) -> float:
    """A number to four digits, so that texts are the same everywhere."""
    return float(f"{value:.4g}")


def _is_of(read: PolyAccess, inlined: Inlined) -> bool:
    """Whether a node that is computed where it is read may compute with what an access reads."""
    moved = moved_axes(read)
    return bool(moved) and moved <= inlined.moved


def _is_scattered(read: PolyAccess, block: PolyBlock) -> bool:
    """Whether no lanes read an access: along neither axis that lanes may run over are its elements side by side."""
    shape = block.statement.shape
    innermost = [max(each, default=None) for each in (kept_axes(block), reduction_axes(block))]
    lanes = [axis for axis in innermost if axis is not None and nominal(shape[axis]) >= _FEWEST_LANES]
    return bool(lanes) and all(_jumps(read, axis) for axis in lanes)


def _jumps(read: PolyAccess, axis: int) -> bool:
    """Whether an access moves along an axis other than from each element to its neighbour in memory."""
    along = [row for row in read.index if axis in axes.positions(row)]
    return bool(along) and (along != [read.index[-1]] or dict(along[0].terms).get(Axis(axis)) != 1)


def _instances(block: PolyBlock) -> int:
    return math.prod(map(nominal, block.statement.shape))


def _elements(block: PolyBlock) -> int:
    return max(math.prod(map(nominal, block.written_shape)), 1)
