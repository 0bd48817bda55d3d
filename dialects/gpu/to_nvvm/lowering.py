"""GPU → NVVM: the scalar level of the kernels becomes functions of the LLVM dialect over bare pointers.

In: a `gpu.module` of `gpu.func`s. Out: the same `gpu.module`, of `llvm.func`s whose ops are `llvm` and `nvvm`; what
stands beside it, such as the host program, is not touched. Memory and threads are rewritten in `memory`;
control flow and arithmetic are MLIR's own passes' work.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.codegen import software_math
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import GLOBAL, SHARED, TensorMapType
from tinyc.dialects.gpu.expand.lowering import GpuExpand
from tinyc.dialects.gpu.kernel import GpuKernel, kernels_of_statements
from tinyc.dialects.gpu.launch_attributes import CLUSTER
from tinyc.dialects.gpu.statements import READING_OPS, SCALAR_OPS, InstructionOp, by_op
from tinyc.dialects.gpu.statements.rules import VECTOR_BYTES
from tinyc.dialects.gpu.to_nvvm.memory import ADDRESS_SPACES, MemoryRewriter, is_buffer, pointer
from tinyc.dialects.nvvm.verify import gpu_modules
from tinyc.dialects.nvvm.whitelist import GENERIC_POINTER, TENSOR_MAP_ARGUMENT
from tinyc.mlir import arith, gpu, ir, memref, passmanager
from tinyc.mlir.locations import unnamed, where
from tinyc.passes import Pass

#: Control flow and arithmetic to the LLVM dialect. What has an intrinsic takes it first, such as `arith.maximumf`:
#: `arith-expand`, for divisions that round down or up, would lose the sign of its zeros.
_UPSTREAM = (
    "convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,arith-expand,convert-arith-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse"
)
#: Where the pattern of every swizzle begins anew.
DYNAMIC_ALIGNMENT_BYTES = 1024
_LOWERINGS = by_op(SCALAR_OPS, "tinyc.dialects.gpu.to_nvvm", "lower")


@dataclass(frozen=True)
class GpuToNvvm(Pass):
    """Lower the kernels to the LLVM dialect with NVVM's intrinsics.

    Requires:
        1. The kernels of each `gpu.module` are at the scalar level, or are statements, which --gpu-expand takes there.
    Ensures:
        1. Each kernel is an `llvm.func` of its name that says how many threads a CTA has. Its arguments are those of
           the `gpu.func`: buffers are pointers to global memory, which alias nothing, but for those of a pair of
           `tgpu.in_place`, and are marked as read-only where nothing is written through them; extents are i64; tensor
           maps are 128 bytes by value. A cluster is as large as `tgpu.cluster` says.
        2. Memory is accessed by `llvm.load` and `llvm.store` at an address of base and row-major index; shared memory
           is an `llvm.mlir.global` in address space 3; one that is `tgpu.dynamic` has no size, and is external. Index
           arithmetic is 64 bits wide.
        3. An addition to memory is one `llvm.atomicrmw`; the first thread to note an index out of range wins a
           `llvm.cmpxchg` on the status buffer. Neighbouring elements are one load or store of a vector.
    Before:
        gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
          gpu.func @one(%y: memref<?xf32, #gpu.address_space<global>>)
              kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.grid = [1, 1, 1]} {
            %i = gpu.thread_id x
            %0 = arith.constant 1.0 : f32
            memref.store %0, %y[%i] : memref<?xf32, #gpu.address_space<global>>
            gpu.return } }
    After:
        gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
          llvm.func @one(%y: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.noalias}) attributes {
              gpu.kernel, nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 1, 1, 1>} {
            %0 = llvm.mlir.constant(1.0 : f32) : f32  %1 = nvvm.read.ptx.sreg.tid.x : i32
            %i = llvm.zext %1 : i32 to i64
            %2 = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
            llvm.store %0, %2 : f32, !llvm.ptr<1>
            llvm.return } }
    Source: specification 002 (§8).
    """

    name: ClassVar[str] = "gpu-to-nvvm"
    consumes: ClassVar[tuple[str, ...]] = ("gpu",)
    produces: ClassVar[tuple[str, ...]] = ("nvvm", "llvm")
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (gpu.GPUModuleOp,)

    def run(self, module: ir.Module) -> None:
        """Replace the kernels of `module`."""
        if kernels_of_statements(module):
            GpuExpand().run(module)
        for each in gpu_modules(module):
            software_math.expand_functions(each)
            for op in list(each.bodyRegion.blocks[0].operations):
                if isinstance(op, memref.GlobalOp):
                    _lower_shared(op)
                elif isinstance(op, gpu.GPUFuncOp):
                    _lower_kernel(GpuKernel(op))
            _run_upstream(each)


def _run_upstream(kernels: gpu.GPUModuleOp) -> None:
    """Run MLIR's passes on a `gpu.module` alone: some work on whole modules only, which hold the host as well."""
    alone = ir.Module.create(loc=kernels.location)
    kernels.operation.clone(ip=ir.InsertionPoint(alone.body))
    manager = passmanager.PassManager.parse(f"builtin.module({_UPSTREAM})", kernels.context)
    manager.enable_verifier(False)  # the runner verifies what comes out
    manager.run(alone.operation)
    alone.body.operations[0].operation.move_before(kernels)
    kernels.erase()


def _lower_shared(shared: memref.GlobalOp) -> None:
    """Replace a `memref.global` in shared memory by an `llvm.mlir.global`.

    Raises:
        TinycError: `NoGpuKernel`: it is something else.
    """
    kind, value = ir.MemRefType(shared.type_.value), shared.initial_value
    if not is_buffer(kind, SHARED) or not (value is None or isinstance(value, ir.UnitAttr)):
        message = f"'memref.global' of {kind} is not shared memory; it must have one axis and be uninitialized there"
        raise TinycError("NoGpuKernel", message, where(shared.location))
    is_dynamic = "tgpu.dynamic" in shared.attributes
    with ir.InsertionPoint(shared), shared.location:
        mlir.llvm.mlir_global(
            ir.Type.parse(f"!llvm.array<{0 if is_dynamic else kind.get_dim_size(0)} x {kind.element_type}>"),
            shared.sym_name.value,
            ir.Attribute.parse(f"#llvm.linkage<{'external' if is_dynamic else 'internal'}>"),
            # Whatever its elements: some kernels access several at once; swizzled tiles are in the dynamic one.
            alignment=DYNAMIC_ALIGNMENT_BYTES if is_dynamic else VECTOR_BYTES,
            addr_space=ADDRESS_SPACES[SHARED],
        )
    shared.erase()


def _lower_kernel(kernel: GpuKernel) -> None:
    """Replace a `gpu.func` by an `llvm.func`, whose arithmetic and control flow are as before."""
    _check_signature(kernel)
    block, old = kernel.block, kernel.arguments
    attributes = _argument_attributes(kernel)
    types = [_argument_type(each.type) for each in old]
    new = [block.add_argument(kind, argument.location) for kind, argument in zip(types, old, strict=True)]
    pairs = list(zip(old, new, strict=True))
    pointers: dict[ir.Value, ir.Value] = {a: b for a, b in pairs if not isinstance(a.type, ir.IndexType)}
    rewriter = MemoryRewriter(pointers, _LOWERINGS)
    erased = [op for op in _program_order(block) if rewriter.rewrite(op)]
    for op in reversed(erased):
        op.erase()
    with ir.InsertionPoint.at_block_begin(block), unnamed(kernel.location):
        for argument, value in pairs:
            if argument not in pointers:
                argument.replace_all_uses_with(arith.index_cast(ir.IndexType.get(), value))
    for _ in old:
        block.erase_argument(0)
    with ir.InsertionPoint(kernel.op), kernel.location:
        function = _function(kernel, types, attributes)
    block.append_to(function.body)
    kernel.op.erase()


def _argument_type(kind: ir.Type) -> ir.Type:
    """The type of an argument: buffers and tensor maps are pointers, extents are i64."""
    if isinstance(kind, TensorMapType):
        return ir.Type.parse(GENERIC_POINTER)
    return pointer(ir.MemRefType(kind)) if is_buffer(kind, GLOBAL) else ir.IntegerType.get_signless(64)


def _check_signature(kernel: GpuKernel) -> None:
    """Check that a function is a kernel of one block over buffers, extents and tensor maps.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    name, blocks = kernel.name, kernel.op.body.blocks
    if "kernel" not in kernel.op.attributes or len(blocks) != 1:
        message = f"'gpu.func' @{name} is not a kernel of one block; write it as kernel, its control flow as scf"
        raise TinycError("NoGpuKernel", message, where(kernel.location))
    declared = ir.FunctionType(kernel.op.function_type.value).inputs
    for position, argument in enumerate(kernel.arguments):
        kind = argument.type
        is_other = isinstance(kind, ir.IndexType | TensorMapType)
        if position >= len(declared) or not (is_buffer(kind, GLOBAL) or is_other):
            raise TinycError(
                "NoGpuKernel",
                f"'gpu.func' @{name}: argument {position} is {kind}; a kernel takes one-dimensional memrefs in global "
                "memory, indices and tensor maps, and shared memory is a memref.global",
                where(kernel.location),
            )


def _program_order(block: ir.Block) -> list[ir.OpView]:
    """The ops of a block and of all blocks in it: an op before those in its regions."""
    found: list[ir.OpView] = []
    for op in block.operations:
        found.append(op)
        for inner in (inner for region in op.regions for inner in region.blocks):
            found += _program_order(inner)
    return found


def _argument_attributes(kernel: GpuKernel) -> ir.ArrayAttr:
    """The attributes that tell LLVM of the arguments: buffers are apart but for those that may be one, and aligned.

    What a tensor map is of, it also reaches.
    They are aligned to more than their elements. But LLVM, told so, reads a few elements at once where it needs fewer,
    and then beyond the end of a buffer. A buffer that is read where a warp waits is not said to be apart: LLVM would
    read it as constant memory (`ld.global.nc`), and ptxas moves such reads across barriers.
    """
    i64 = ir.IntegerType.get_signless(64)
    described: list[ir.Attribute] = []
    paired = {position for pair in kernel.in_place for position in pair}
    mapped = {each.buffer for each in kernel.tensor_maps}
    in_order = set(_read_in_order(kernel.op.body.blocks[0]))
    for position, argument in enumerate(kernel.arguments):
        known: dict[str, ir.Attribute] = {}
        if isinstance(argument.type, TensorMapType):
            known = {name: ir.Attribute.parse(text) for name, text in TENSOR_MAP_ARGUMENT.items()}
        elif is_buffer(argument.type, GLOBAL):
            alignment = _element_bytes(ir.MemRefType(argument.type))
            known = {"llvm.align": ir.IntegerAttr.get(i64, alignment)}
            if position not in {*paired, *mapped} and argument not in in_order:
                known["llvm.noalias"] = ir.UnitAttr.get()
            if all(isinstance(use.owner, READING_OPS) for use in argument.uses):
                known["llvm.readonly"] = ir.UnitAttr.get()
        described.append(ir.DictAttr.get(known))
    return ir.ArrayAttr.get(described)


def _read_in_order(block: ir.Block) -> Iterator[ir.Value]:
    """Yield the buffers that are read where a warp waits: in the block of the barrier, in front of it or behind."""
    waits = any(isinstance(op, InstructionOp) and op.entry.name == "barrier.warp" for op in block.operations)
    for op in block.operations:
        if waits and isinstance(op, READING_OPS):
            yield op.operands[0]
        for region in op.regions:
            for inner in region.blocks:
                yield from _read_in_order(inner)


def _element_bytes(buffer: ir.MemRefType) -> int:
    """Bytes of an element of a memref."""
    element = buffer.element_type
    assert isinstance(element, ir.IntegerType | ir.FloatType)
    return element.width // 8


def _function(kernel: GpuKernel, types: list[ir.Type], arguments: ir.ArrayAttr) -> "mlir.llvm.LLVMFuncOp":
    """Create the `llvm.func` for a kernel, without a body."""
    signature = ir.Type.parse(f"!llvm.func<void ({', '.join(map(_short, types))})>")
    function = mlir.llvm.LLVMFuncOp(kernel.op.name, ir.TypeAttr.get(signature), arg_attrs=arguments)
    attributes = function.attributes
    attributes["gpu.kernel"] = attributes["nvvm.kernel"] = ir.UnitAttr.get()
    if kernel.op.known_block_size is not None:
        attributes["nvvm.reqntid"] = kernel.op.known_block_size
        # One CTA a multiprocessor is enough: else ptxas may save registers for more of them, and spill.
        attributes["nvvm.minctasm"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
    if CLUSTER in kernel.op.attributes:
        attributes["nvvm.cluster_dim"] = kernel.op.attributes[CLUSTER]
    return function


def _short(kind: ir.Type) -> str:
    """How a type is spelled inside another type of the LLVM dialect."""
    return str(kind).removeprefix("!llvm.")
