"""A view of one GPU kernel, the `gpu.func` that a region has become: its arguments, its launch, its statements.

A kernel's arguments are its buffers (inputs, outputs, workspaces), a status buffer where an index may be out of range,
its extents, and its tensor maps; `tgpu.…` attributes of the arguments and of the function say which is what, and how it
is launched. The view reads a kernel that verifies, of statements or at the scalar level; its ops are those that it had
when they were first asked for.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tinyc.codegen.scalars import storage_type
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import TensorMapType
from tinyc.dialects.gpu.fragment_layout import WARP_LANES as WARP_LANES
from tinyc.dialects.gpu.launch_attributes import (
    CLUSTER,
    DYNAMIC_SHARED_BYTES,
    GUARDS,
    TENSOR_MAP,
    WORKSPACE,
    cluster_of,
    dynamic_shared_bytes_of,
    tensor_map_of,
)
from tinyc.dialects.launch import TensorMapArgument
from tinyc.dialects.region import ops as region
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.bodies import nested
from tinyc.mlir.locations import where
from tinyc.target import DEFAULT_ARCH, TARGETS, target_of
from tinyc.target.target import Target
from tinyc.vocabulary.attributes import decode, to_type
from tinyc.vocabulary.guards import guards_of

#: What says where in the grid a thread is, and how large grid and CTA are.
Position = gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp

#: What `gpu.shuffle` moves in a kernel.
_SHUFFLED = ("i32", "f32", "i64", "f64")
_CHIP = re.compile(r'chip = "(\w+)"')


@dataclass(frozen=True)
class GpuKernel:
    """A `gpu.func`."""

    op: gpu.GPUFuncOp

    @property
    def name(self) -> str:
        """The symbol by which the host function launches it."""
        return self.op.name.value

    @property
    def location(self) -> ir.Location:
        """Where it comes from."""
        return self.op.location

    @property
    def target(self) -> Target:
        """The architecture that it is for."""
        around = self.op.operation.parent
        assert around is not None
        assert isinstance(around.opview, gpu.GPUModuleOp)  # where functions of the layer are
        return target_for(around.opview)

    @property
    def block(self) -> ir.Block:
        """Its first block; at the level of statements it is the only one."""
        return self.op.body.blocks[0]

    @functools.cached_property
    def ops(self) -> list[ir.OpView]:
        """All ops in it, at any depth: those of a body or a loop before the op that holds them."""
        return [op.opview for op in nested(self.op)[:-1]]

    # --- arguments ----------------------------------------------------------------------------------------------------

    @property
    def arguments(self) -> list[ir.BlockArgument]:
        """Buffers, status buffer, extents and tensor maps."""
        return list(self.block.arguments)

    @property
    def notes(self) -> list[Mapping[str, ir.Attribute]]:
        """The attributes of each argument."""
        given = list(self.op.arg_attrs or ())
        notes = [{each.name: each.attr for each in entry} for entry in given if isinstance(entry, ir.DictAttr)]
        return [*notes, *({} for _ in self.arguments[len(notes) :])]

    @property
    def buffers(self) -> list[ir.BlockArgument]:
        """The inputs, the outputs, the workspaces: a `!region.memref`, or at the scalar level a memref of one axis."""
        pairs = zip(self.arguments, self.notes, strict=True)
        others = ir.IndexType | TensorMapType
        return [each for each, note in pairs if "tgpu.status" not in note and not isinstance(each.type, others)]

    @property
    def workspaces(self) -> list[ir.BlockArgument]:
        """The buffers that only this launch, and that of the kernel before it, use."""
        return [each for each, note in zip(self.arguments, self.notes, strict=True) if WORKSPACE in note]

    @property
    def status(self) -> ir.BlockArgument | None:
        """The buffer that takes the note of an index out of range, where one may be."""
        pairs = zip(self.arguments, self.notes, strict=True)
        return next((each for each, note in pairs if "tgpu.status" in note), None)

    @property
    def symbols(self) -> dict[str, ir.BlockArgument]:
        """The extents by name, in order."""
        pairs = [(note.get("tgpu.extent"), each) for each, note in zip(self.arguments, self.notes, strict=True)]
        return {name.value: each for name, each in pairs if isinstance(name, ir.StringAttr)}

    @property
    def tensor_maps(self) -> tuple[TensorMapArgument, ...]:
        """What the arguments that are tensor maps are maps of, in order."""
        return tuple(tensor_map_of(note[TENSOR_MAP]) for note in self.notes if TENSOR_MAP in note)

    # --- the launch ---------------------------------------------------------------------------------------------------

    @property
    def grid(self) -> tuple[Dim, ...] | None:
        """CTAs along x, y and z; None where nothing launches it."""
        return decode(self.op.attributes["tgpu.grid"]) if "tgpu.grid" in self.op.attributes else None

    @property
    def cta_shape(self) -> tuple[int, ...]:
        """Threads of a CTA along x, y and z; empty where a kernel at the scalar level does not say."""
        return tuple(self.op.known_block_size or ())

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes at which it is an alternative of another kernel; none where it is not."""
        attributes = self.op.attributes
        return region.sizes_of_attribute(attributes["tgpu.sizes"]) if "tgpu.sizes" in attributes else {}

    @property
    def guards(self) -> tuple[Assumption, ...]:
        """The relations between extents where it is an alternative of another kernel; none where it is not."""
        return guards_of(self.op.attributes.get(GUARDS, None), GUARDS)

    def is_multiple(self, extent: Dim, of: int) -> bool:
        """Whether an extent is a multiple of a number: by itself, or by the guards of the launch."""
        equal = [each.lhs for each in self.guards if each.predicate == "eq" and each.rhs == extent]
        return any(extents.divide(each, of) is not None for each in (extent, *equal))

    @property
    def cluster(self) -> tuple[int, int, int]:
        """CTAs of a cluster along x, y and z."""
        return cluster_of(self.op.attributes.get(CLUSTER, None))

    @property
    def dynamic_shared_bytes(self) -> int:
        """Bytes of a CTA's shared memory that is sized at the launch."""
        return dynamic_shared_bytes_of(self.op.attributes.get(DYNAMIC_SHARED_BYTES, None))

    @property
    def init(self) -> str | None:
        """The kernel that is launched before it, with the same arguments."""
        symbol = self.op.attributes.get("tgpu.init", None)
        return symbol.value if isinstance(symbol, ir.FlatSymbolRefAttr) else None

    @property
    def in_place(self) -> tuple[tuple[int, int], ...]:
        """The pairs of buffers, by position, that may be one memory: one that is read, and one that is written."""
        pairs = self.op.attributes.get("tgpu.in_place", None)
        found = [decode(pair) for pair in pairs] if isinstance(pairs, ir.ArrayAttr) else []
        return tuple((read, written) for read, written in found)

    @property
    def plan(self) -> ir.DictAttr | None:
        """The plan that it realises."""
        plan = self.op.attributes.get("tgpu.plan", None)
        return plan if isinstance(plan, ir.DictAttr) else None

    # --- the scalar level ---------------------------------------------------------------------------------------------

    @property
    def has_statements(self) -> bool:
        """Whether its buffers are still a region's; expanded, they are memrefs of one axis."""
        return any(isinstance(argument.type, region.MemRefType) for argument in self.arguments)

    def flat_types(self, memory_space: ir.Attribute | None) -> list[ir.Type]:
        """The types of the arguments where a buffer is one row of elements in `memory_space`."""
        return [_flat_type(argument.type, memory_space) for argument in self.arguments]

    def flat_attributes(self) -> ir.ArrayAttr:
        """The attributes of the same arguments: with each buffer the tensor that it holds, `tgpu.tensor`."""
        entries: list[ir.Attribute] = []
        for argument, note in zip(self.arguments, self.notes, strict=True):
            held: dict[str, ir.Attribute] = {}
            if isinstance(argument.type, region.MemRefType):
                held = {"tgpu.tensor": ir.TypeAttr.get(to_type(region.held_tensor(argument.type)))}
            entries.append(ir.DictAttr.get({**note, **held}))
        return ir.ArrayAttr.get(entries)


def _flat_type(kind: ir.Type, memory_space: ir.Attribute | None) -> ir.Type:
    if isinstance(kind, region.MemRefType):
        dynamic = ir.ShapedType.get_dynamic_size()
        stored = storage_type(region.held_tensor(kind).element)
        return ir.MemRefType.get([dynamic], stored, memory_space=memory_space)
    if isinstance(kind, ir.MemRefType):
        return ir.MemRefType.get(kind.shape, kind.element_type, memory_space=memory_space)
    return kind


def functions_in(kernels: gpu.GPUModuleOp) -> list[gpu.GPUFuncOp]:
    """The functions of a `gpu.module`."""
    return [op for op in kernels.bodyRegion.blocks[0].operations if isinstance(op, gpu.GPUFuncOp)]


def gpu_kernels_of(module: ir.Module) -> dict[str, GpuKernel]:
    """The kernels of a module by name, of statements or at the scalar level."""
    modules = [op for op in module.body.operations if isinstance(op, gpu.GPUModuleOp)]
    found = [GpuKernel(function) for each in modules for function in functions_in(each)]
    return {kernel.name: kernel for kernel in found}


def kernels_of_statements(module: ir.Module) -> list[GpuKernel]:
    """The kernels that have not been expanded yet."""
    return [kernel for kernel in gpu_kernels_of(module).values() if kernel.has_statements]


def chip_of(kernels: gpu.GPUModuleOp) -> str:
    """The chip that a `gpu.module` names in its target, or the default one's."""
    found = (_CHIP.search(str(each)) for each in kernels.targets or ())
    return next((match[1] for match in found if match is not None), target_of(DEFAULT_ARCH).chip)


def target_for(kernels: gpu.GPUModuleOp) -> Target:
    """The architecture that a `gpu.module` is for; the default one where it names none that tinyc knows."""
    return next((target for target in TARGETS if target.chip == chip_of(kernels)), target_of(DEFAULT_ARCH))


def axis_of(op: Position) -> str:
    """The axis, x, y or z, that a position or a size is asked along: that of `#gpu<dim x>`."""
    return str(op.dimension)[-2]


def shuffle_mode(op: gpu.ShuffleOp) -> str:
    """The mode of a shuffle, by which all lanes of a warp exchange a word or two: xor, up, down or idx.

    Raises:
        TinycError: `NoGpuKernel`: it is not one of whole warps, or of a type that no shuffle moves.
    """
    width = op.width.owner
    is_whole = isinstance(width, arith.ConstantOp) and ir.IntegerAttr(width.value).value == WARP_LANES
    if not is_whole or list(op.valid.uses) or str(op.value.type) not in _SHUFFLED:
        message = (
            f"'gpu.shuffle' of {op.value.type} is none that a kernel may have; shuffle {', '.join(_SHUFFLED)} with a "
            f"constant width of {WARP_LANES}, and compare lane numbers instead of asking whether there was a lane"
        )
        raise TinycError("NoGpuKernel", message, where(op.location))
    return str(op.mode).rstrip(">").rpartition(" ")[2]
