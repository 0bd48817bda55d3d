"""A kernel of statements as a sequential function.

In: a `gpu.func` of statements. Out: a `func.func` with the same arguments, buffers being 1-D memrefs of the host.
"""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.statements import STATEMENT_OPS, StorePartialOp, by_op
from tinyc.mlir import func, ir, passmanager

#: What stands behind a kernel's name in the name of its reference.
SUFFIX = "_reference"

_WRITING = [op for op in STATEMENT_OPS if issubclass(op, OutputOp | StorePartialOp)]
_COMPUTED = by_op(_WRITING, "tinyc.dialects.cuda.main.reference", "compute")


def reference_of(kernel: GpuKernel) -> func.FuncOp:
    """Create the sequential form of a kernel at the insertion point, and return it.

    Raises:
        TinycError: `InvalidIr`: an epilogue's sum is of several products.
    """
    types = kernel.flat_types(None)
    finishes = any(isinstance(op, OutputOp) for op in kernel.ops)  # then partial sums are handed on inside of it
    with kernel.location:
        created = func.FuncOp(kernel.name + SUFFIX, (types, []))
        created.attributes["arg_attrs"] = kernel.flat_attributes()
        block = created.add_entry_block()
        with ir.InsertionPoint(block):
            elements = FlatElements.of(kernel, list(block.arguments))
            for op in kernel.ops:
                if isinstance(op, OutputOp) or (isinstance(op, StorePartialOp) and not finishes):
                    _COMPUTED[type(op)](elements, op)
            func.ReturnOp([])
    passmanager.PassManager.parse("func.func(cse,loop-invariant-code-motion,cse)").run(created.operation)
    return created
