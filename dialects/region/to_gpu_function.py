"""The frame of a GPU kernel: its function with arguments and attributes, and copies of the region's ops in statements.

In: a `region.kernel` and how it is launched. Out: a `gpu.func` with an open body, as a `Frame`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.codegen.elements import Elements
from tinyc.dialects.gpu.ops import GLOBAL
from tinyc.dialects.region.contract import is_checked, symbols_in
from tinyc.dialects.region.verify import block_of
from tinyc.dialects.tiny.attributes import extents_attribute
from tinyc.mlir import end_body, gpu, ir
from tinyc.plan.attribute import to_attribute
from tinyc.plan.fields import Plan
from tinyc.runtime.program import STATUS_WORDS


@dataclass(frozen=True)
class Origin:
    """What the functions of one region are made from: the region, names for its buffers, and its complete plan."""

    kernel: Any
    buffers: Sequence[str]
    plan: Plan


@dataclass(frozen=True)
class Frame:
    """A function whose statements are written now: what the region's buffers and symbols are in it."""

    function: Any
    buffers: Mapping[Any, Any]
    symbols: Mapping[str, Any]

    def index(self, dim: Dim) -> Any:
        """Emit an extent as an index."""
        return Elements({}, self.symbols, None).extent(dim)


def open_function(origin: Origin, name: str, grid: Sequence[Dim], block: Sequence[int], **attributes: Any) -> Frame:
    """Create a kernel's function at the insertion point, which must be in a `gpu.module`."""
    buffers, symbols = list(block_of(origin.kernel).arguments), symbols_in(origin.kernel)
    status = [_status_type()] if is_checked(origin.kernel) else []
    types = [*(buffer.type for buffer in buffers), *status, *(ir.IndexType.get() for _ in symbols)]
    names = [
        *(_named("tgpu.name", each) for each in origin.buffers),
        *(ir.DictAttr.get({"tgpu.status": ir.UnitAttr.get()}) for _ in status),
        *(_named("tgpu.extent", each) for each in symbols),
    ]
    function = gpu.GPUFuncOp(
        ir.FunctionType.get(types, []),
        sym_name=name,
        known_block_size=list(block),
        arg_attrs=ir.ArrayAttr.get(names),
    )
    # The builder's own `kernel` writes `gpu.kernel`, which is another attribute than the one that text has.
    function.operation.attributes["kernel"] = ir.UnitAttr.get()
    for key, value in {"grid": extents_attribute(grid), "plan": to_attribute(origin.plan), **attributes}.items():
        function.operation.attributes[f"tgpu.{key}"] = value
    arguments = list(function.add_entry_block().arguments)
    extents = arguments[len(arguments) - len(symbols) :]
    return Frame(function, dict(zip(buffers, arguments, strict=False)), dict(zip(symbols, extents, strict=True)))


def _status_type() -> Any:
    memory = ir.Attribute.parse(GLOBAL)
    return ir.MemRefType.get([STATUS_WORDS], ir.IntegerType.get_signless(64), memory_space=memory)


def _named(attribute: str, name: str) -> Any:
    return ir.DictAttr.get({attribute: ir.StringAttr.get(name)})


def copy_body(
    frame: Frame, statement: Any, ops: Iterable[Any], given: Mapping[Any, Any] | None = None
) -> dict[Any, Any]:
    """Copy ops of the region into a statement's body; return what the region's values are there.

    `given` are values that the body has already: the arguments of its block.
    """
    local = {**frame.buffers, **(given or {})}
    (block,) = statement.operation.regions[0].blocks
    for op in ops:
        copy = op.operation.clone(ir.InsertionPoint(block))
        for position, operand in enumerate(op.operation.operands):
            copy.operands[position] = local[operand]
        local.update(zip(op.operation.results, copy.results, strict=True))
    return local


def close_body(statement: Any) -> None:
    """End the body of a statement."""
    (block,) = statement.operation.regions[0].blocks
    with ir.InsertionPoint(block):
        end_body()


def needed_for(kernel: Any, wanted: Iterable[Any], given: Iterable[Any] = ()) -> list[Any]:
    """Return the ops of a region that compute the values `wanted`, in order; `given` are there already."""
    read, known, needed = set(wanted), set(given), []
    for op in reversed(list(block_of(kernel).operations)):
        if any(result in read and result not in known for result in op.operation.results):
            read.update(op.operation.operands)
            needed.append(op)
    return needed[::-1]
