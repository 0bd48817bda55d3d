"""GPU → NVVM: the scalar level of the kernels becomes functions of the LLVM dialect over bare pointers.

In: a `gpu.module` of `gpu.func`s. Out: the same `gpu.module`, of `llvm.func`s whose ops are `llvm` and `nvvm`; what
stands beside it, such as the host program, is not touched. Memory and threads are rewritten in `to_nvvm_memory.py`;
control flow and arithmetic are MLIR's own passes' work.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm.py.
from tinyc import mlir
from tinyc.codegen import software_math
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand import GpuExpand
from tinyc.dialects.gpu.ops import GLOBAL, SHARED
from tinyc.dialects.gpu.signature import kernels
from tinyc.dialects.gpu.to_nvvm_memory import ADDRESS_SPACES, MemoryRewriter, is_buffer, pointer
from tinyc.dialects.nvvm.verify import gpu_modules
from tinyc.mlir import arith, ir, passmanager
from tinyc.passes import Pass
from tinyc.text import where

#: Control flow and arithmetic to the LLVM dialect. What has an intrinsic takes it first, such as `arith.maximumf`:
#: `arith-expand`, for divisions that round down or up, would lose the sign of its zeros.
UPSTREAM = (
    "convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,arith-expand,convert-arith-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse"
)


@dataclass(frozen=True)
class GpuToNvvm(Pass):
    """Lower the kernels to the LLVM dialect with NVVM's intrinsics.

    Requires:
        1. The kernels of each `gpu.module` are at the scalar level, or are statements, which --gpu-expand takes there.
    Ensures:
        1. Each kernel is an `llvm.func` of its name that says how many threads a block has. Its arguments are those of
           the `gpu.func`: buffers are pointers to global memory, which alias nothing and are marked as read-only where
           nothing is written through them; extents are i64.
        2. Memory is accessed by `llvm.load` and `llvm.store` at an address of base and row-major index; shared memory
           is an `llvm.mlir.global` in address space 3. Index arithmetic is 64 bits wide.
        3. An addition to memory is one `llvm.atomicrmw`; the first thread to note an index out of range wins a
           `llvm.cmpxchg` on the status buffer.
    Before:
        gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
          gpu.func @neg(%x: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "x"},
                        %y: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "y"})
              kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
            %i = gpu.thread_id x
            %0 = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
            %1 = arith.negf %0 : f32
            memref.store %1, %y[%i] : memref<?xf32, #gpu.address_space<global>>
            gpu.return
          }
        }
    After:
        gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
          llvm.func @neg(%x: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.noalias, llvm.readonly},
                         %y: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.noalias})
              attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 1 : i32,
                          nvvm.reqntid = array<i32: 256, 1, 1>} {
            %0 = nvvm.read.ptx.sreg.tid.x : i32
            %i = llvm.zext %0 : i32 to i64
            %1 = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
            %2 = llvm.load %1 : !llvm.ptr<1> -> f32
            %3 = llvm.fneg %2 : f32
            %4 = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
            llvm.store %3, %4 : f32, !llvm.ptr<1>
            llvm.return
          }
        }
    Source: specification 002 (§8).
    """

    name: ClassVar[str] = "gpu-to-nvvm"
    consumes: ClassVar[tuple[str, ...]] = ("gpu",)
    produces: ClassVar[tuple[str, ...]] = ("nvvm", "llvm")

    def run(self, module: Any) -> None:
        """Replace the kernels of `module`."""
        if kernels(module):
            GpuExpand().run(module)
        for each in gpu_modules(module):
            software_math.expand(each)
            for op in list(each.regions[0].blocks[0].operations):
                if op.operation.name == "memref.global":
                    _lower_shared(op.operation)
                elif op.operation.name == "gpu.func":
                    _lower_kernel(op.operation)
            _run_upstream(each)


def _run_upstream(kernels: Any) -> None:
    """Run MLIR's passes on a `gpu.module` alone: some work on whole modules only, which hold the host as well."""
    alone = ir.Module.create(loc=kernels.location)
    kernels.clone(ip=ir.InsertionPoint(alone.body))
    passmanager.PassManager.parse(f"builtin.module({UPSTREAM})", kernels.context).run(alone.operation)
    alone.body.operations[0].operation.move_before(kernels)
    kernels.erase()


def _lower_shared(shared: Any) -> None:
    """Replace a `memref.global` in shared memory by an `llvm.mlir.global`.

    Raises:
        TinycError: `NoGpuKernel`: it is something else.
    """
    kind = ir.MemRefType(shared.attributes["type"].value)
    value = shared.attributes.get("initial_value", None)
    if not is_buffer(kind, SHARED) or not (value is None or isinstance(value, ir.UnitAttr)):
        message = f"'memref.global' of {kind} is no shared memory; it must have one axis and be uninitialized there"
        raise TinycError("NoGpuKernel", message, where(shared.location))
    with ir.InsertionPoint(shared), shared.location:
        mlir.llvm.mlir_global(
            ir.Type.parse(f"!llvm.array<{kind.get_dim_size(0)} x {kind.element_type}>"),
            shared.attributes["sym_name"].value,
            ir.Attribute.parse("#llvm.linkage<internal>"),
            alignment=_element_bytes(kind),
            addr_space=ADDRESS_SPACES[SHARED],
        )
    shared.erase()


def _lower_kernel(function: Any) -> None:
    """Replace a `gpu.func` by an `llvm.func`, whose arithmetic and control flow are as before."""
    _check_signature(function)
    block = function.regions[0].blocks[0]
    old = list(block.arguments)
    arguments = _argument_attributes(function)
    types = [pointer(each.type) if is_buffer(each.type, GLOBAL) else ir.IntegerType.get_signless(64) for each in old]
    new = [block.add_argument(kind, function.location) for kind in types]
    rewriter = MemoryRewriter({a: b for a, b in zip(old, new, strict=True) if is_buffer(a.type, GLOBAL)})
    erased = [op for op in _nested(block) if rewriter.rewrite(op)]
    for op in reversed(erased):
        op.erase()
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for argument, value in zip(old, new, strict=True):
            if not is_buffer(argument.type, GLOBAL):
                argument.replace_all_uses_with(arith.index_cast(ir.IndexType.get(), value))
    for _ in old:
        block.erase_argument(0)
    with ir.InsertionPoint(function), function.location:
        kernel = _function(function, types, arguments)
    block.append_to(kernel.operation.regions[0])
    function.erase()


def _check_signature(function: Any) -> None:
    """Check that a function is a kernel of one block over buffers and extents.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    name, blocks = function.attributes["sym_name"].value, list(function.regions[0].blocks)
    if "kernel" not in function.attributes or len(blocks) != 1:
        message = f"'gpu.func' @{name} is not a kernel of one block; write it as kernel, its control flow as scf"
        raise TinycError("NoGpuKernel", message, where(function.location))
    declared = ir.FunctionType(function.attributes["function_type"].value).inputs
    for position, argument in enumerate(blocks[0].arguments):
        kind = argument.type
        if position >= len(declared) or not (is_buffer(kind, GLOBAL) or isinstance(kind, ir.IndexType)):
            raise TinycError(
                "NoGpuKernel",
                f"'gpu.func' @{name}: argument {position} is {kind}; a kernel takes one-dimensional memrefs in global "
                "memory and indices, and shared memory is a memref.global",
                where(function.location),
            )


def _nested(block: Any) -> list[Any]:
    """Return the ops of a block and of all blocks in it, in program order."""
    found = []
    for op in block.operations:
        found.append(op.operation)
        for region in op.operation.regions:
            for inner in region.blocks:
                found += _nested(inner)
    return found


def _argument_attributes(function: Any) -> Any:
    """Return what LLVM may know of the arguments: the runtime's buffers are apart from each other, and aligned.

    They are aligned to more than their elements. But LLVM, told so, reads a few elements at once where it needs fewer,
    and then beyond the end of a buffer.
    """
    i64 = ir.IntegerType.get_signless(64)
    described = []
    for argument in function.regions[0].blocks[0].arguments:
        known = {}
        if is_buffer(argument.type, GLOBAL):
            alignment = _element_bytes(argument.type)
            known = {"llvm.noalias": ir.UnitAttr.get(), "llvm.align": ir.IntegerAttr.get(i64, alignment)}
            if all(use.owner.operation.name == "memref.load" for use in argument.uses):
                known["llvm.readonly"] = ir.UnitAttr.get()
        described.append(ir.DictAttr.get(known))
    return ir.ArrayAttr.get(described)


def _element_bytes(buffer: Any) -> int:
    """Return the size of an element of a memref."""
    return ir.MemRefType(buffer).element_type.width // 8


def _function(function: Any, types: list[Any], arguments: Any) -> Any:
    """Create the `llvm.func` for a kernel, without a body."""
    signature = ir.Type.parse(f"!llvm.func<void ({', '.join(map(_short, types))})>")
    kernel = mlir.llvm.LLVMFuncOp(function.attributes["sym_name"], ir.TypeAttr.get(signature), arg_attrs=arguments)
    attributes = kernel.operation.attributes
    attributes["gpu.kernel"] = attributes["nvvm.kernel"] = ir.UnitAttr.get()
    if "known_block_size" in function.attributes:
        attributes["nvvm.reqntid"] = function.attributes["known_block_size"]
        # One block a multiprocessor is enough: else ptxas may save registers for more of them, and spill.
        attributes["nvvm.minctasm"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
    return kernel


def _short(kind: Any) -> str:
    """Return how a type is spelled inside another type of the LLVM dialect."""
    return str(kind).removeprefix("!llvm.")
