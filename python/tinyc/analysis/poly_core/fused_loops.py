"""Fused loops: the common loops of a kernel's reductions and results, and what one step of them computes, in phases.

The reductions and the results of a kernel are its *anchors*; element-wise blocks and movements are computed where they
are read, composed away. A loop runs over one axis of each anchor, and along it each anchor reads the others at its own
index. So one turn of all loops, a *step*, needs nothing of another step, whatever the sizes, and the steps together
compute every element of every anchor once: such a schedule keeps all dependences. Along their other axes, phases are
computed one after the other; what is reduced is there as a whole before it is read.

In: blocks of a Poly-View, or a `region.kernel`. Out: `FusedLoops`, or why there are none. Axes that are the parts of a
dimension are axes like others in a view with fine splits.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.poly.block import PolyAccess, PolyBlock, access_excess
from tinyc.analysis.poly_core.inlining import INLINE, MAX_ACCESSES, read_through
from tinyc.analysis.poly_core.loops import Loop, common_loops
from tinyc.analysis.poly_core.tile import kept_axes, reduction_axes, scan_axis
from tinyc.expr import axes, extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim


@dataclass(frozen=True)
class Phase:
    """What a step computes of one anchor: its instances at the step's index along the axes `loops`, one for each loop.

    `block` is the anchor with the accesses that are left when element-wise blocks are composed away: to other anchors
    and to tensors outside. Of its other axes `inner` tell its elements apart, outermost first, and `reduced` are summed
    up. An axis of extent 1 is in none of the three.
    """

    block: PolyBlock
    loops: tuple[int, ...]
    inner: tuple[int, ...]
    reduced: tuple[int, ...]

    @property
    def is_reduction(self) -> bool:
        """Whether several instances make one element."""
        return self.block.kind not in INLINE

    @property
    def scan_axis(self) -> int | None:
        """The inner axis along which a scan runs; None for what is not a scan."""
        return scan_axis(self.block)

    @property
    def inner_extents(self) -> Shape:
        """The extents of the inner axes."""
        return tuple(self.block.statement.shape[position] for position in self.inner)

    @property
    def reduced_extents(self) -> Shape:
        """The extents of the reduced axes."""
        return tuple(self.block.statement.shape[position] for position in self.reduced)


@dataclass(frozen=True)
class FusedLoops:
    """The common loops by their extents, outermost first, and the phases of a step in the order in which they run.

    `results` are the names of the blocks that are written to memory.
    """

    extents: Shape
    phases: tuple[Phase, ...]
    results: frozenset[str]

    @property
    def reductions(self) -> tuple[Phase, ...]:
        """The phases that reduce."""
        return tuple(phase for phase in self.phases if phase.is_reduction)

    @property
    def nested_reductions(self) -> int:
        """The greatest number of reductions each of which reads the next, itself or through a result."""
        depths: dict[str, int] = {}
        for phase in self.phases:
            below = max((depths.get(read.tensor, 0) for read in phase.block.accesses), default=0)
            depths[phase.block.name] = below + phase.is_reduction
        return max(depths.values(), default=0)

    @property
    def steps(self) -> Dim:
        """The number of steps.

        Raises:
            ExtentError: it is not a representable extent.
        """
        return extents.product(self.extents)

    @property
    def products(self) -> tuple[Phase, ...]:
        """The phases that are matrix products: contractions that tiles can compute."""
        kinds = ((phase, phase.block.attributes) for phase in self.phases if phase.block.kind == "contraction_pattern")
        return tuple(phase for phase, facts in kinds if facts["form"] == "matrix")

    @property
    def why_no_product(self) -> str:
        """Why the phases are not one matrix product with element-wise ops behind it; empty where they are."""
        reductions = self.reductions
        if len(reductions) != 1 or not self.products:
            return f"it is {len(reductions)} reductions, and {len(self.products)} of them matrix products"
        product = reductions[0].block
        if product.attributes.get("moved_products"):
            return "its products are moved before they are summed"
        for phase in self.phases:
            if phase.inner:
                return f"'{phase.block.name}' is read at other indices than the result's"
            is_made_of_it = phase.block is product or any(read.tensor == product.name for read in phase.block.accesses)
            if not is_made_of_it and phase.block.written_shape != product.written_shape:
                return f"'{phase.block.name}' has another shape, and does not read what is summed"
        return ""

    @property
    def why_no_scan(self) -> str:
        """Why the phases are not one scan with element-wise ops behind it; empty where they are."""
        reductions = self.reductions
        if [phase.block.kind for phase in reductions] != ["scan"]:
            return f"it is {len(reductions)} reductions, and not one scan"
        scan = reductions[0].block
        for phase in self.phases:
            for read in phase.block.accesses:
                if read.tensor == scan.name and (read.index != phase.block.write or read.guards):
                    return f"'{phase.block.name}' reads the scan at other indices than its own"
        return ""

    def held_elements(self, phase: Phase) -> Dim:
        """The elements of a phase that later phases of the step read; 0 where none does."""
        is_read = any(read.tensor == phase.block.name for other in self.phases for read in other.block.accesses)
        return extents.product(phase.inner_extents) if is_read and phase.is_reduction else 0


def fused_loops(blocks: Sequence[PolyBlock], results: Collection[str]) -> FusedLoops | str:
    """The fused loops of blocks in program order, `results` being the names of those that are written to memory.

    Otherwise, why some of it cannot be computed in one kernel of loops.
    """
    inline = {block.name: block for block in blocks if block.kind in INLINE}
    anchors: list[PolyBlock] = []
    for block in blocks:
        if block.name in results or block.name not in inline:
            composed = inlined(block, inline)
            if isinstance(composed, str):
                return composed
            anchors.append(composed)
    return loops_of_anchors(anchors, results)


def loops_of_anchors(anchors: Sequence[PolyBlock], results: Collection[str]) -> FusedLoops:
    """The fused loops of anchors that are composed already, in program order, of which `results` are written."""
    names = [anchor.name for anchor in anchors]
    loops = [loop for loop in common_loops(anchors, names) if _is_plain(loop, anchors)]
    sizes = tuple(anchors[-1].statement.shape[_axis(loop, names[-1])] for loop in loops)
    phases = tuple(_phase(anchor, [_axis(loop, anchor.name) for loop in loops]) for anchor in anchors)
    return FusedLoops(sizes, phases, frozenset(results))


def inlined(block: PolyBlock, through: Mapping[str, PolyBlock]) -> PolyBlock | str:
    """A block that reads what the blocks `through` read in their place, or why that is too complicated."""
    found: dict[PolyAccess, None] = {}
    pending, seen = list(reversed(block.accesses)), set(block.accesses)
    shape = block.statement.shape
    while pending:
        read = pending.pop()
        producer = through.get(read.tensor)
        if producer is None:
            found[read] = None
        else:
            inner = [composed_read(read, producer, each, shape) for each in reversed(producer.accesses)]
            excess = next((why for each in inner if each not in seen and (why := access_excess(each, shape))), None)
            if excess is not None:
                return excess
            pending += [each for each in inner if each not in seen]
            seen.update(inner)
        if len(found) > MAX_ACCESSES:
            return f"'{block.name}' reads more than {MAX_ACCESSES} elements through element-wise blocks"
    return replace(block, accesses=tuple(found))


def composed_read(read: PolyAccess, producer: PolyBlock, inner: PolyAccess, shape: Shape) -> PolyAccess:
    """`inner`, an access of `producer`, at the element of it that `read` takes, over the axes of `shape`."""
    if not read.guards and shape == producer.statement.shape and read.index == producer.write:
        return inner
    return read_through(read, producer, inner, shape)


def _phase(anchor: PolyBlock, loops: Sequence[int]) -> Phase:
    shape, kept, reduced = anchor.statement.shape, kept_axes(anchor), reduction_axes(anchor)
    inner = tuple(k for k in range(len(shape)) if k in kept and shape[k] != 1 and k not in loops)
    return Phase(anchor, tuple(loops), inner, tuple(k for k in range(len(shape)) if k in reduced))


def _axis(loop: Loop, name: str) -> int:
    position = loop.axis_of(name)
    assert position is not None, "a common loop runs over every anchor"
    return position


def _is_plain(loop: Loop, anchors: Sequence[PolyBlock]) -> bool:
    """Whether a loop has one extent, and along it every anchor reads the others at its own index."""
    shapes = {anchor.name: anchor.statement.shape for anchor in anchors}
    if len({shapes[name][position] for name, position in loop.axes}) > 1:
        return False
    by_name = {anchor.name: anchor for anchor in anchors}
    for anchor in anchors:
        own = _axis(loop, anchor.name)
        for read in anchor.accesses:
            producer = by_name.get(read.tensor)
            if producer is None:
                continue
            place = axes.axis(_axis(loop, read.tensor), producer.statement.shape)
            row = read.index[producer.write.index(place)]
            if axes.plain_axis(row) != own:
                return False
    return True
