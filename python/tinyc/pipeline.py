"""The table of contents: every pass of tinyc's in walk order, and the compile for each target as one list of passes.

`parse(text).run(module)` runs any other order: text mixes tinyc's passes with MLIR's own, and the outer
`builtin.module` may be left out.
"""

from collections.abc import Sequence

from tinyc.dialects.exec.expand_divisions import ExecExpandDivisions
from tinyc.dialects.exec.expand_f16 import ExecExpandF16
from tinyc.dialects.exec.expand_math import ExecExpandMath
from tinyc.dialects.exec.to_llvm.lowering import ExecToLlvm
from tinyc.dialects.frontend.to_tiny import FrontendToTiny
from tinyc.dialects.gpu.expand.lowering import GpuExpand
from tinyc.dialects.gpu.to_cuda import GpuToCuda
from tinyc.dialects.gpu.to_nvvm.lowering import GpuToNvvm
from tinyc.dialects.nvvm.to_ptx import NvvmToPtx
from tinyc.dialects.region.dot_products import RegionDotProducts
from tinyc.dialects.region.pack_weights import RegionPackWeights
from tinyc.dialects.region.plan import RegionPlan
from tinyc.dialects.region.specialize import RegionSpecialize
from tinyc.dialects.region.to_exec.lowering import RegionToExec
from tinyc.dialects.region.to_gpu.lowering import RegionToGpu
from tinyc.dialects.region.to_loops.lowering import RegionToLoops
from tinyc.dialects.region.winograd import RegionWinograd
from tinyc.dialects.tiny.inline import TinyInline
from tinyc.dialects.tiny.to_index_book import TinyToIndexBook
from tinyc.dialects.tiny.to_poly import TinyToPoly
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.passes import Pass, Step, Upstream
from tinyc.passes.pipeline_text import Pipeline, parse_pipeline

#: In walk order.
PASSES: tuple[type[Pass], ...] = (
    FrontendToTiny,  # first: the layers below know nothing of it
    TinyInline,  # before all below, which take functions of Tiny ops only
    TinyToIndexBook,
    TinyToPoly,
    TinyToRegion,
    RegionSpecialize,  # before what is decided of a kernel depends on its sizes
    RegionDotProducts,  # before plans: how much of the sum is packed at a time depends on it
    RegionPlan,
    RegionWinograd,  # behind plans, which ask for it; in front of what is decided of the kernels that it makes
    RegionPackWeights,  # behind plans, which say what is packed, and alternatives, which read weights as they are
    RegionToGpu,  # before the host is lowered: the launch contracts of a GPU come from its kernels
    GpuToCuda,  # the other way out of gpu: it expands the kernels itself
    GpuExpand,  # to look at, and for tinyc verify: both ways out of gpu expand kernels of statements themselves
    GpuToNvvm,
    NvvmToPtx,
    RegionToExec,  # before the kernels are loops: the launch contracts come from their region form
    RegionToLoops,
    ExecExpandF16,  # while the conversions are still arith ops
    ExecExpandMath,  # while the functions are still math ops
    ExecExpandDivisions,  # while the loops are still loops
    ExecToLlvm,
)

# The pipelines: each takes a Frontend module all the way, or from the second pass on a Tiny module. A pass has its
# default options; the driver gives it the user's.

TINY: tuple[Step, ...] = (FrontendToTiny(),)
#: The side tables, which stand beside the functions that they are about.
INDEX_BOOK: tuple[Step, ...] = (*TINY, TinyToIndexBook())
POLY_VIEW: tuple[Step, ...] = (*TINY, TinyToPoly())

#: From functions of loops on memory to the LLVM dialect: MLIR's own passes, for kernels and host alike.
LOOPS_TO_LLVM: tuple[Step, ...] = (
    Upstream("arith-expand{include-bf16=true}"),  # LLVM's own bf16 arithmetic does not run on every CPU
    Upstream("convert-scf-to-cf"),
    Upstream("convert-vector-to-llvm"),
    Upstream("convert-math-to-llvm"),  # intrinsics first, because LLVM vectorises sqrt and the like
    Upstream("convert-math-to-libm"),  # what has no intrinsic goes to the C library
    Upstream("finalize-memref-to-llvm"),
    Upstream("convert-arith-to-llvm"),
    Upstream("convert-cf-to-llvm"),
    Upstream("convert-func-to-llvm"),
    Upstream("reconcile-unrealized-casts"),  # what each conversion has left for the next one
)
CPU: tuple[Step, ...] = (
    *TINY,
    TinyToRegion(target="cpu"),
    RegionSpecialize(),
    RegionDotProducts(),  # before plans: how much of the sum is packed at a time depends on it
    RegionPlan(arch="cpu"),  # the loops of a kernel are made by its plan
    RegionWinograd(),  # before the weights of its products are packed
    RegionPackWeights(),  # before the host is lowered: which kernels run once is seen there
    RegionToExec(),  # before the kernels are loops: the launch contracts come from their region form
    RegionToLoops(),
    ExecExpandF16(),  # while the conversions are still arith ops
    ExecExpandMath(),  # while the functions are still math ops
    ExecExpandDivisions(),  # while the loops are still loops
    ExecToLlvm(),  # while the kernels' arguments are still memrefs, which it takes apart
    *LOOPS_TO_LLVM,
)

_TO_GPU: tuple[Step, ...] = (
    *TINY,
    TinyToRegion(),
    RegionSpecialize(),
    RegionPlan(),  # the statements of a kernel are made by its plan
    RegionToGpu(),
)
#: The kernels of a GPU as PTX, and the program that launches them.
GPU: tuple[Step, ...] = (
    *_TO_GPU,
    RegionToExec(),  # before the kernels are expanded: the launch contracts come from their statements
    GpuToNvvm(),
    NvvmToPtx(),
)
#: Both as one CUDA C++ file that checks itself: its reference comes from the statements, before the pass expands them.
CUDA_TEXT: tuple[Step, ...] = (*_TO_GPU, GpuToCuda())


def parse(text: str, known: Sequence[type[Pass]] = PASSES) -> Pipeline:
    """The pipeline that `text` spells; `known` are the passes of tinyc's that it may name.

    Raises:
        TinycError: `InvalidPipeline`, `UnknownPass`, `InvalidOption`.
    """
    return parse_pipeline(text, known)
