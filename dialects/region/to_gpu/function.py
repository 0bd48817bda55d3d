"""The frame of a GPU kernel: its function with arguments and attributes, and copies of the region's ops in statements.

In: a `region.kernel` and how it is launched. Out: a `gpu.func` with an open body, as a `Frame`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.candidate import Candidate
from tinyc.codegen.elements import Elements
from tinyc.codegen.identifiers import legal_identifier
from tinyc.dialects.gpu.dialect import GLOBAL, TensorMapType
from tinyc.dialects.gpu.launch_attributes import TENSOR_MAP, WORKSPACE, tensor_map_attribute
from tinyc.dialects.launch import TensorMapArgument
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.ops import SIZE_GUARDS, SIZES, memref_type
from tinyc.expr.extents import Dim
from tinyc.mlir import gpu, ir
from tinyc.mlir.bodies import end_body
from tinyc.mlir.locations import here
from tinyc.plan.attribute import plan_attribute
from tinyc.plan.fields import Plan
from tinyc.runtime.program import STATUS_WORDS
from tinyc.target.target import Target
from tinyc.vocabulary.attributes import extents_attribute
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class Origin:
    """The origin of the functions made of one region: the region with its complete plan, and names for what is new.

    `name` is the function's that the host launches, `init_name` that of the one before it, `alternative_name` and
    `alternative_init_name` those of the ones that are launched in their place where guards hold, if its scheme writes
    them; `buffers` are names for the region's buffers.
    """

    kernel: Kernel
    candidate: Candidate
    plan: Plan
    target: Target
    name: str
    init_name: str
    alternative_name: str
    alternative_init_name: str
    buffers: Sequence[str]


@dataclass(frozen=True)
class Frame:
    """A function whose statements are written now: what the region's buffers and symbols are in it.

    `workspaces` are its own buffers, `maps` its tensor maps.
    """

    body: ir.Block
    buffers: Mapping[ir.Value, ir.Value]
    symbols: Mapping[str, ir.Value]
    maps: Sequence[ir.Value] = ()
    workspaces: Sequence[ir.Value] = ()

    def index(self, dim: Dim) -> ir.Value:
        """Emit an extent as an index."""
        return Elements({}, self.symbols, None).extent(dim)


def open_function(
    origin: Origin,
    name: str,
    grid: Sequence[Dim],
    threads: Sequence[int],
    tensor_maps: Sequence[TensorMapArgument] = (),
    attributes: Mapping[str, ir.Attribute] | None = None,
    workspaces: Mapping[str, TensorType] | None = None,
) -> Frame:
    """Create a kernel's function at the insertion point, which must be in a `gpu.module`.

    `grid` and `threads` are the CTAs, and the threads of one, along x, y and z; `tensor_maps` are maps of its buffers,
    which become its last arguments; each of `attributes` becomes one of the function's, `tgpu.<name>`. `workspaces` are
    memory of its launch, by name, which become the last of its buffers.
    """
    kernel, buffers, symbols = origin.kernel, list(origin.kernel.buffers), origin.kernel.symbols
    memory, unit = ir.Attribute.parse(GLOBAL), ir.UnitAttr.get()
    status = ir.MemRefType.get([STATUS_WORDS], ir.IntegerType.get_signless(64), memory_space=memory)
    statuses = [status] if kernel.is_checked else []
    own_memory = dict(workspaces or {})
    types = [*(buffer.type for buffer in buffers), *map(memref_type, own_memory.values())]
    types += [*statuses, *(ir.IndexType.get() for _ in symbols), *(TensorMapType.get() for _ in tensor_maps)]
    arguments: list[dict[str, ir.Attribute]] = [
        *({"tgpu.name": ir.StringAttr.get(each)} for each in origin.buffers),
        *(
            {"tgpu.name": ir.StringAttr.get(legal_identifier(each, (*origin.buffers, *symbols))), WORKSPACE: unit}
            for each in own_memory
        ),
        *({"tgpu.status": unit} for _ in statuses),
        *({"tgpu.extent": ir.StringAttr.get(each)} for each in symbols),
        *({TENSOR_MAP: tensor_map_attribute(each)} for each in tensor_maps),
    ]
    function = gpu.GPUFuncOp(
        ir.FunctionType.get(types, []),
        sym_name=name,
        known_block_size=list(threads),
        arg_attrs=ir.ArrayAttr.get([ir.DictAttr.get(argument) for argument in arguments]),
    )
    # The builder's own `kernel` writes `gpu.kernel`, which is another attribute than the one that text has.
    function.attributes["kernel"] = unit
    own: dict[str, ir.Attribute] = {"grid": extents_attribute(grid), "plan": plan_attribute(origin.plan)}
    own |= {name: kernel.op.attributes[name] for name in (SIZES, SIZE_GUARDS) if name in kernel.op.attributes}
    for key, value in {**own, **(attributes or {})}.items():
        function.attributes[f"tgpu.{key}"] = value
    body = function.add_entry_block()
    values = list(body.arguments)
    first_extent = len(buffers) + len(own_memory) + len(statuses)
    extents = values[first_extent : first_extent + len(symbols)]
    locations = [*(buffer.location for buffer in buffers), *map(here, own_memory), *(here() for _ in statuses)]
    locations += [*map(here, symbols), *(here() for _ in tensor_maps)]
    for value, location in zip(values, locations, strict=True):
        value.set_location(location)
    return Frame(
        body,
        dict(zip(buffers, values, strict=False)),
        dict(zip(symbols, extents, strict=True)),
        values[first_extent + len(symbols) :],
        values[len(buffers) : len(buffers) + len(own_memory)],
    )


def copy_body(
    frame: Frame, statement: ir.OpView, ops: Iterable[ir.OpView], given: Mapping[ir.Value, ir.Value] | None = None
) -> dict[ir.Value, ir.Value]:
    """Copy ops of the region into a statement's body; the result is what the region's values are there.

    `given` are values that the body has already: the arguments of its block.
    """
    local = {**frame.buffers, **(given or {})}
    (block,) = statement.regions[0].blocks
    for op in ops:
        copy = op.clone(ir.InsertionPoint(block))
        for position, operand in enumerate(op.operands):
            copy.operands[position] = local[operand]
        local.update(zip(op.results, copy.results, strict=True))
    return local


def close_body(statement: ir.OpView) -> None:
    """End the body of a statement."""
    (block,) = statement.regions[0].blocks
    with ir.InsertionPoint(block):
        end_body()
