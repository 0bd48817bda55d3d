"""`tinyc explain --block`: a statement with its domain and accesses, and why it is of its kind and of no other."""

from collections.abc import Iterator, Mapping
from typing import Any

from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.movement import Guard
from tinyc.analysis.patterns.classification import pattern_of
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.analysis.patterns.fold import Fold, FoldAxis
from tinyc.analysis.patterns.scan import Scan
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock, PolyItem
from tinyc.analysis.tiny_ops import is_stored
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.explain.buffer_reads import buffer_read, whole_read
from tinyc.explain.subject import Line, Subject, axes_with_sizes, element_text, kind_of, parameters, short
from tinyc.expr.axes import Axis, AxisExpr
from tinyc.mlir import ir

#: The parts that axes play in a contraction, as a person says them.
_ROLES = {"batch_idx": "batch", "lhs_idx": "m", "rhs_idx": "n", "reduce_idx": "k"}
#: The patterns that a reduction may be of, as a person says them.
_PATTERNS = {"contraction": "matmul", "scan": "scan", "fold": "fold"}


def block_lines(subject: Subject, name: str) -> Iterator[Line]:
    """A block: its computation, over which instances, what it reads and writes, why, and its edges."""
    item = subject.item(name)
    value = subject.computed[item.name]
    yield _title(subject, item, value)
    if isinstance(item, NonScopTensor):
        yield Line("Non-SCoP", item.reason)
        yield Line("", buffer_read(subject, value, item.reads[0]) or whole_read(value, item.reads[0]))
        yield from _neighbours(subject, item)
        return
    yield Line("domain", axes_with_sizes(item.statement))
    yield Line("", item.domain_text)
    yield from (Line("", f"  where {each}") for each in parameters(item.statement))
    yield Line("writes", element_text(item.statement, PolyAccess(item.name, item.write)))
    yield from (Line("", f"  {text}") for text in subject.split(value))
    yield from _reads(item)
    yield from _why(subject, item, value.owner)
    yield from _neighbours(subject, item)


def _title(subject: Subject, item: PolyItem, value: ir.OpResult) -> Line:
    """The title of an item of the view, with its value where that is called else, and where it comes from."""
    what = kind_of(item) if isinstance(item, PolyBlock) else f"{short(value.owner)}, not a block"
    called = subject.names[value]
    facts = [subject.type_of(value), what, *([f"value {called}"] if called != item.name else [])]
    place = subject.place(value)
    title = "block" if isinstance(item, PolyBlock) else "tensor"
    return Line(title, f"{item.name}: {', '.join([*facts, *([f'at {place}'] if place else [])])}")


def _reads(block: PolyBlock) -> Iterator[Line]:
    for number, access in enumerate(block.accesses):
        yield Line("" if number else "reads", element_text(block.statement, access).rstrip("*"))
        for guard in access.guards:
            yield Line("", f"  where {_inside(block.statement, guard)}, else {guard.value}")


def _inside(statement: Statement, guard: Guard) -> str:
    return f"0 <= {statement.affine(guard.expression)} < {statement.extent(guard.size)}"


def _why(subject: Subject, block: PolyBlock, op: ir.OpView) -> Iterator[Line]:
    """Why a block is a contraction, a scan or a fold, and why not those asked for before; why a movement is."""
    facts = block.attributes
    if block.kind == "movement_affine":
        needed = f"it has to be in memory for {', '.join(_readers(subject, block))}"
        yield Line("because", facts.get("materialized", needed))
    if not isinstance(op, ReduceOp):
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
        yield Line("because", _running(found.pattern, axis_names[found.pattern.axis]))
    elif isinstance(found.pattern, Fold):
        yield Line("because", "windows of the source are laid over each other and summed")
        (read,) = block.accesses
        yield from (Line("", _overlap(each, axis_names[each.position], read.tensor)) for each in found.pattern.axes)


def _running(scan: Scan, axis: str) -> str:
    others = f"those {'after' if scan.reverse else 'before'} it"
    taken = f"{others}, not itself" if scan.exclusive else f"itself and {others}"
    return f"each element along {axis} takes {taken}"


def _factors(subject: Subject, block: PolyBlock) -> Iterator[Line]:
    """Which tensors are the left and the right operand of the product that a block sums."""
    product = next((each for each in subject.view.blocks if each.name == block.accesses[0].tensor), None)
    if product is not None and product.attributes.get("op") == "mul":
        left, right = (access.tensor for access in product.accesses)
        yield Line("", f"{product.name} is the product of {left}, the left operand, and {right}, the right one")


def _digits(facts: Mapping[str, Any]) -> Iterator[str]:
    """The parts of each axis that is split."""
    for axis, sizes in facts.get("digits", {}).items():
        parts = ", ".join(f"{axis}.{number} < {size}" for number, size in enumerate(sizes))
        yield f"{axis} in parts: {parts}"


def _roles(facts: Mapping[str, Any]) -> Iterator[str]:
    both = {*facts["batch_idx"], *facts["reduce_idx"]}
    for group, role in _ROLES.items():
        names = [name for name in facts[group] if role in ("batch", "k") or name not in both]
        if names:
            yield f"as {role}: {', '.join(names)}"


def _windows(block: PolyBlock) -> Iterator[str]:
    """Each window of a contraction: of which tensor, along which of its axes, and the row."""
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
    """The sum of two axes by their names, each with its coefficient, less a pad: `2*oh + kh - 1`."""
    axes = Statement("row", (outer[0], inner[0]), (), ())
    return axes.affine(AxisExpr(-pad, ((Axis(0), outer[1]), (Axis(1), inner[1]))))


def _neighbours(subject: Subject, item: PolyItem) -> Iterator[Line]:
    """The items that are computed before an item, and those that are computed after it."""
    made = {each.name: _called(each) for each in subject.view.items}
    before = [made[name] for name in _tensors(item) if name in made]
    yield Line("needs", ", ".join(before) or _needs_no_block(subject, item))
    yield Line("needed by", ", ".join(_readers(subject, item)))


def _needs_no_block(subject: Subject, item: PolyItem) -> str:
    """The needs of an item that reads nothing of the view."""
    tensors = _tensors(item)
    if tensors:
        stored = {subject.names[value] for value in subject.names if is_stored(value)}
        what = "constant" if stored.issuperset(tensors) else "input"
        what = "inputs and constants" if stored & {*tensors} and what == "input" else what + "s" * (len(tensors) > 1)
        return f"no block: it reads only the {what} {', '.join(tensors)}"
    is_constant = isinstance(item, PolyBlock) and item.attributes.get("op") == "const"
    return f"nothing: it {'is a constant' if is_constant else 'reads no tensor'}"


def _called(item: PolyItem) -> str:
    return item.name if isinstance(item, PolyBlock) else f"{item.name} (a tensor, not a block)"


def _tensors(item: PolyItem) -> list[str]:
    """The tensors that an item reads, each once."""
    names = [access.tensor for access in item.accesses] if isinstance(item, PolyBlock) else item.reads
    return list(dict.fromkeys(names))


def _readers(subject: Subject, item: PolyItem) -> Iterator[str]:
    yield from (_called(each) for each in subject.view.items if item.name in _tensors(each))
    if item.name in subject.view.outputs:
        yield "the function's result"
