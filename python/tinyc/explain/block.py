"""`tinyc explain --block`: a statement with its domain and accesses, and why it is of its kind and of no other."""

from collections.abc import Iterator
from typing import Any

from tinyc.analysis.axis import Axis, AxisExpr
from tinyc.analysis.contraction import Contraction
from tinyc.analysis.fold import Fold, FoldAxis
from tinyc.analysis.poly_view import NonScopTensor, PolyAccess, PolyBlock
from tinyc.analysis.reduction import pattern_of
from tinyc.analysis.scan import Scan
from tinyc.analysis.statement import Statement
from tinyc.explain.subject import Line, Subject, bounds, element, kind_of, producer_of

#: The parts that axes play in a contraction, as a person says them.
_ROLES = {"batch_idx": "batch", "lhs_idx": "m", "rhs_idx": "n", "reduce_idx": "k"}
#: The patterns that a reduction may be of, as a person says them.
_PATTERNS = {"contraction": "matmul", "scan": "scan", "fold": "fold"}


def block_lines(subject: Subject, name: str) -> Iterator[Line]:
    """Yield what a block computes, over which instances, what it reads and writes, why, and its edges."""
    item = subject.item(name)
    value = subject.computed[item.name]
    place = subject.place(value)
    is_block = isinstance(item, PolyBlock)
    what = kind_of(item) if is_block else "no block"
    yield Line("block", f"{item.name}: {subject.type_of(value)}, {what}" + (f", at {place}" if place else ""))
    if isinstance(item, NonScopTensor):
        yield Line("Non-SCoP", item.reason)
        yield Line("", "it is computed as a whole, and read from memory: a region ends here")
        return
    yield Line("domain", bounds(item.statement))
    yield Line("", item.domain_text)
    yield Line("writes", element(item.statement, PolyAccess(item.name, item.write)))
    yield from _reads(item)
    yield from _why(subject, item, producer_of(value))
    yield from _edges(subject, item)


def _reads(block: PolyBlock) -> Iterator[Line]:
    for number, access in enumerate(block.accesses):
        yield Line("" if number else "reads", element(block.statement, access).rstrip("*"))
        for guard in access.guards:
            yield Line("", f"  where {_inside(block.statement, guard)}, else {guard.value}")


def _inside(statement: Statement, guard: Any) -> str:
    return f"0 <= {statement.affine(guard.expression)} < {statement.extent(guard.size)}"


def _why(subject: Subject, block: PolyBlock, op: Any) -> Iterator[Line]:
    """Yield why a block is a contraction, a scan or a fold, and why not those asked for before; why a movement is."""
    facts = block.attributes
    if block.kind == "movement_affine":
        yield Line("because", facts.get("materialized", "an output, or an op that reads all of it, needs it in memory"))
    if op.name != "tiny.reduce":
        return
    found, axis_names = pattern_of(op, subject.dims), [block.statement.affine(row) for row in block.write]
    for name, why in found.rejected:
        yield Line(f"no {_PATTERNS[name]}", str(why.named(block.statement.axes)))
        if name == "contraction" and (why.axes or why.rows):
            yield from _factors(subject, block)
    if isinstance(found.pattern, Contraction):
        yield Line("because", f"a sum over {', '.join(facts['reduce_idx'])} of a product that only it reads")
        yield from (Line("", text) for text in (*_digits(facts), *_roles(facts), *_windows(block)))
    elif isinstance(found.pattern, Scan):
        direction = "from the end" if found.pattern.reverse else "from the start"
        yield Line("because", f"each element takes those before it along {axis_names[found.pattern.axis]}, {direction}")
    elif isinstance(found.pattern, Fold):
        yield Line("because", "windows of the source are laid over each other and summed")
        (read,) = block.accesses
        yield from (Line("", _overlap(each, axis_names[each.position], read.tensor)) for each in found.pattern.axes)


def _factors(subject: Subject, block: PolyBlock) -> Iterator[Line]:
    """Yield which tensors are the left and the right operand of the product that a block sums."""
    product = next((each for each in subject.view.blocks if each.name == block.accesses[0].tensor), None)
    if product is not None and product.attributes.get("op") == "mul":
        left, right = (access.tensor for access in product.accesses)
        yield Line("", f"{product.name} is the product of {left}, the left operand, and {right}, the right one")


def _digits(facts: Any) -> Iterator[str]:
    """Yield the parts of each axis that is split."""
    for axis, sizes in facts.get("digits", {}).items():
        parts = ", ".join(f"{axis}.{number} < {size}" for number, size in enumerate(sizes))
        yield f"{axis} in parts: {parts}"


def _roles(facts: Any) -> Iterator[str]:
    both = {*facts["batch_idx"], *facts["reduce_idx"]}
    for group, role in _ROLES.items():
        names = [name for name in facts[group] if role in ("batch", "k") or name not in both]
        if names:
            yield f"as {role}: {', '.join(names)}"


def _windows(block: PolyBlock) -> Iterator[str]:
    """Yield each window of a contraction: of which tensor, along which of its axes, and the row."""
    left, right = (access.tensor for access in block.accesses)
    tensors = {"lhs": left, "rhs": right}
    if left == right:
        tensors = {"lhs": f"{left}, the left operand", "rhs": f"{right}, the right operand"}
    for each in block.attributes["affine_offsets"]:
        row = _row((each["outer"], each["stride"]), (each["kernel"], each["dilation"]), each["pad"])
        yield f"window along axis {each['axis']} of {tensors[each['operand']]}: {row}"


def _overlap(fold: FoldAxis, axis: str, source: str) -> str:
    row = _row(("window", fold.stride), ("tap", fold.dilation), fold.pad)
    return f"{axis} = {row}: window is axis {fold.window} of {source}, tap axis {fold.tap}"


def _row(outer: tuple[str, int], inner: tuple[str, int], pad: int) -> str:
    """Return the sum of two axes by their names, each with its coefficient, less a pad: `2*oh + kh - 1`."""
    axes = Statement("row", (outer[0], inner[0]), (), ())
    return axes.affine(AxisExpr(-pad, ((Axis(0), outer[1]), (Axis(1), inner[1]))))


def _edges(subject: Subject, block: PolyBlock) -> Iterator[Line]:
    before = [edge.source.name for edge in subject.view.edges if edge.target.name == block.name]
    after = [edge.target.name for edge in subject.view.edges if edge.source.name == block.name]
    yield Line("needs", ", ".join(before) or "no block: it reads inputs only")
    yield Line("needed by", ", ".join(after) or "no block: it is an output, or read as a whole")
