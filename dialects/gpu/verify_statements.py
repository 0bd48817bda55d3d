"""What holds of each op of the GPU layer by itself: its types, its axes, its body."""

from collections.abc import Callable, Sequence
from typing import Any

from tinyc.dialects.gpu.ops import AccType, SmemType
from tinyc.dialects.region.ops import held_tensor
from tinyc.dialects.region.verify import ORDERED, Malformed, check_ordered
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.types import BOOL, TensorType, is_float
from tinyc.mlir import body_of, ir

#: How what an epilogue reads follows its tile.
KINDS = ("row", "column", "full", "scalar", "gather")
_SIDES = ("rows", "columns", "batches")
_GUARDED = ("rows", "columns")
_SUMMED_WIDER = ("f16", "bf16")


def check(op: Any) -> None:
    """Check an op whose operands, results and attributes are those that its class declares.

    Raises:
        Malformed: it breaks its rule.
        TinycError: a tensor type or an attribute in it has no meaning.
    """
    _RULES[op.name.removeprefix("tgpu.")](op)


# --- types ------------------------------------------------------------------------------------------------------------


def _ring(mlir_type: Any) -> tuple[TensorType, int]:
    """Return the tile and the stages of a `!tgpu.smem`."""
    if not isinstance(mlir_type, SmemType):
        raise Malformed(f"works on a !tgpu.smem, not on {mlir_type}")
    tile, stages = (parameter.maybe_downcast() for parameter in mlir_type.params)
    if not isinstance(stages, ir.IntegerAttr) or str(stages.type) != "i64" or stages.value < 1:
        raise Malformed(f"has {mlir_type}, a ring of {stages} stages; it needs one at least, as i64")
    return _tile(mlir_type, tile), stages.value


def _sums(mlir_type: Any) -> TensorType:
    """Return the tile of a `!tgpu.acc`."""
    if not isinstance(mlir_type, AccType):
        raise Malformed(f"works on a !tgpu.acc, not on {mlir_type}")
    (tile,) = (parameter.maybe_downcast() for parameter in mlir_type.params)
    tensor = _tile(mlir_type, tile)
    if tensor.element in (*_SUMMED_WIDER, BOOL):
        raise Malformed(
            f"has sums in {tensor.element}; sums of 16-bit floats are kept in f32, and bools are not summed"
        )
    return tensor


def _tile(mlir_type: Any, tile: Any) -> TensorType:
    if not isinstance(tile, ir.TypeAttr):
        raise Malformed(f"has {mlir_type}, where {tile} is no tensor type")
    tensor = tensor_type(tile.value)
    if tensor.rank != 2 or not tensor.is_static or 0 in tensor.shape:
        raise Malformed(f"has {mlir_type}; a tile has two axes of known extents above 0")
    return tensor


def _require_indices(op: Any, *names: str) -> None:
    for name in names:
        kind = getattr(op.opview, name).type
        if not isinstance(kind, ir.IndexType):
            raise Malformed(f"has {name} of type {kind}; it must be an index")


# --- places -----------------------------------------------------------------------------------------------------------


def _axes(op: Any, rank: int) -> list[int]:
    """Return the axes in `rows`, `columns` and `batches`, which must be distinct axes of a value of `rank`."""
    found: list[int] = []
    for side in _SIDES:
        attribute = op.attributes[side]
        if not isinstance(attribute, ir.DenseI64ArrayAttr):
            raise Malformed(f"has {side} = {attribute}; it must be array<i64: …>")
        found.extend(attribute)
    if any(not 0 <= axis < rank for axis in found) or len(set(found)) != len(found):
        shown = ", ".join(f"{side} {list(op.attributes[side])}" for side in _SIDES)
        raise Malformed(f"has {shown}; they must be distinct axes of its value, which has {rank}")
    return found


def _require_words(op: Any, name: str, words: Sequence[str]) -> list[str]:
    if not isinstance(op.attributes[name], ir.ArrayAttr):
        raise Malformed(f"has {name} = {op.attributes[name]}; it must be a list of {', '.join(words)}")
    entries = list(op.attributes[name])
    values = [entry.value if isinstance(entry, ir.StringAttr) else None for entry in entries]
    if any(value not in words for value in values):
        raise Malformed(f"has {name} = {op.attributes[name]}; each must be one of {', '.join(words)}")
    return [value for value in values if value is not None]


def _require_guarded(op: Any) -> None:
    guarded = _require_words(op, "guarded", _GUARDED)
    if len(set(guarded)) != len(guarded):
        raise Malformed(f"has guarded = {op.attributes['guarded']}; it names a side twice")


# --- bodies -----------------------------------------------------------------------------------------------------------


def _body(op: Any, arguments: int = 0) -> tuple[Any, list[Any]]:
    """Return the one block of a statement, and its ops."""
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        raise Malformed("must have a body of one block")
    (block,) = op.regions[0].blocks
    if len(block.arguments) != arguments:
        raise Malformed(f"has a body of {len(block.arguments)} arguments; it takes {arguments}")
    return block, [inner.operation for inner in body_of(op)]


def _require_region(ops: list[Any], ends: int) -> None:
    """Check that all but the last `ends` ops are what a region may compute with."""
    for op in ops[: len(ops) - ends]:
        if op.name != "region.read" and (not op.name.startswith("tiny.") or op.name == "tiny.assume"):
            raise Malformed(f"may hold 'region.read' and Tiny ops only, not '{op.name}'")


def _require_unordered(ops: list[Any]) -> None:
    """Check that no op of a body walks an axis in order: such a one is a statement of its own."""
    found = next((op.name for op in ops if op.name in ORDERED), None)
    if found is not None:
        raise Malformed(f"may not hold '{found}', which has statements of its own")


def _yields(ops: list[Any]) -> list[Any]:
    """Check a body that writes outputs; return its yields."""
    count = sum(op.name == "region.yield" for op in ops)
    yields = ops[len(ops) - count :]
    if not count or any(op.name != "region.yield" for op in yields):
        raise Malformed("must end in a 'region.yield' for each output")
    _require_region(ops, count)
    outputs = [op.operands[1] for op in yields]
    read = [op.operands[0] for op in ops if op.name == "region.read"]
    if len(set(outputs)) != len(outputs) or set(outputs) & set(read):
        raise Malformed("must write each output once, and read none")
    if any(getattr(op.attributes.get("materialize"), "value", None) == "deferred" for op in yields):
        raise Malformed("has a deferred output; a kernel writes all of its outputs to gmem")
    return yields


# --- statements -------------------------------------------------------------------------------------------------------


def _alloc_smem(op: Any) -> None:
    _ring(op.results[0].type)


def _zero(op: Any) -> None:
    _sums(op.results[0].type)


def _load_tile(op: Any) -> None:
    tile, _ = _ring(op.operands[0].type)
    _require_indices(op, "slot", "batch", "row", "column")
    _, ops = _body(op)
    if not ops or ops[-1].name != "tgpu.yield":
        raise Malformed("must end in a 'tgpu.yield'")
    _require_region(ops, 1)
    _require_unordered(ops)
    value = tensor_type(ops[-1].operands[0].type)
    if value.element != tile.element:
        raise Malformed(f"loads {value.element} into a tile of {tile.element}")
    _axes(op, value.rank)
    _require_guarded(op)


def _fma(op: Any) -> None:
    (lhs, lhs_stages), (rhs, rhs_stages) = (_ring(operand.type) for operand in op.operands[:2])
    sums = _sums(op.operands[3].type)
    _require_indices(op, "slot")
    (m, k), (depth, n) = lhs.shape, rhs.shape
    if depth != k or sums.shape != (m, n):
        raise Malformed(f"adds [{m}, {k}] × [{depth}, {n}] to sums of {list(sums.shape)}; the tiles do not fit")
    if lhs_stages != rhs_stages:
        raise Malformed(f"takes the same slot of rings of {lhs_stages} and {rhs_stages} stages")
    if lhs.element != rhs.element:
        raise Malformed(f"multiplies {lhs.element} by {rhs.element}; operands of a product have one element type")
    if is_float(lhs.element) != is_float(sums.element):
        raise Malformed(f"adds products of {lhs.element} to sums in {sums.element}; both are floats, or both integers")
    if op.results[0].type != op.operands[3].type:
        raise Malformed(f"gives {op.results[0].type}, and adds to {op.operands[3].type}")


def _epilogue(op: Any) -> None:
    sums = _sums(op.operands[0].type)
    _require_indices(op, "batch", "row", "column")
    block, ops = _body(op, arguments=1)
    value = tensor_type(block.arguments[0].type)
    if sums.element != ("f32" if value.element in _SUMMED_WIDER else value.element):
        raise Malformed(f"makes {value.element} of sums in {sums.element}")
    axes = _axes(op, value.rank)
    if len(axes) != value.rank:
        raise Malformed(f"has {len(axes)} axes in rows, columns and batches, and its sums have {value.rank}")
    _require_guarded(op)
    _require_unordered(ops)
    for yielding in _yields(ops):
        written = held_tensor(yielding.operands[1].type)
        if written.shape != value.shape:
            raise Malformed(f"writes {written}, and its sums are {value}; they must have one shape")
    reads = sum(inner.name == "region.read" for inner in ops)
    if len(_require_words(op, "kinds", KINDS)) != reads:
        raise Malformed(f"has kinds = {op.attributes['kinds']}, and reads {reads} buffers; it needs a kind for each")


def _map(op: Any) -> None:
    _, ops = _body(op)
    _yields(ops)
    _require_unordered([inner for inner in ops if not _puts(inner)])
    check_ordered(op)


def _puts(op: Any) -> bool:
    """Say whether an op is a scatter whose updates replace the data's elements."""
    return op.name == "tiny.scatter" and getattr(op.attributes.get("op"), "value", None) != "add"


def _with_one(name: str, **required: str) -> Callable[[Any], None]:
    """Return the rule of a statement whose body has one op of a name, with some attributes."""

    def rule(op: Any) -> None:
        _, ops = _body(op)
        _yields(ops)
        found = [inner for inner in ops if inner.name == name]
        if len(found) != 1 or any(_word(found[0], key) != word for key, word in required.items()):
            what = "".join(f' with {key} = "{word}"' for key, word in required.items())
            raise Malformed(f"must hold one '{name}'{what}")
        check_ordered(op)

    return rule


def _word(op: Any, name: str) -> str | None:
    """Return a text attribute of an op that need not verify."""
    return getattr(op.attributes.get(name), "value", None)


def _yield(op: Any) -> None:
    tensor_type(op.operands[0].type)
    if op.parent is None or op.parent.operation.name != "tgpu.load_tile":
        raise Malformed("ends the body of a 'tgpu.load_tile' and stands nowhere else")


# --- what statements become -------------------------------------------------------------------------------------------


def _row_of(mlir_type: Any) -> Any:
    """Return a buffer's element type; it must be one row of elements."""
    if not isinstance(mlir_type, ir.MemRefType) or mlir_type.rank != 1:
        raise Malformed(f"works on a memref of one axis, not on {mlir_type}")
    return mlir_type.element_type


def _atomic_add(op: Any) -> None:
    _require_indices(op, "index")
    element = _row_of(op.operands[1].type)
    if op.operands[0].type != element:
        raise Malformed(f"adds {op.operands[0].type} to an element of type {element}")


def _report_index(op: Any) -> None:
    _require_indices(op, "position")
    if str(_row_of(op.operands[0].type)) != "i64":
        raise Malformed(f"notes an index in {op.operands[0].type}; a status buffer is a memref<2xi64, …>")


_RULES: dict[str, Callable[[Any], None]] = {
    "alloc_smem": _alloc_smem,
    "zero": _zero,
    "load_tile": _load_tile,
    "fma": _fma,
    "epilogue": _epilogue,
    "map": _map,
    "topk": _with_one("tiny.topk"),
    "scatter_add": _with_one("tiny.scatter", op="add"),
    "yield": _yield,
    "atomic_add": _atomic_add,
    "report_index": _report_index,
}
