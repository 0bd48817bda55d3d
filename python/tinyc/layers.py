"""The tables of the layers that have a text, one for each target: in walk order, with the passes that make each.

Plain data: the command line reads it for its help and its checks without loading MLIR.
"""

from dataclasses import dataclass

#: From the result of --exec-to-llvm to the LLVM dialect. Intrinsics first, because LLVM vectorises sqrt and the like;
#: what has none goes to the C library.
UPSTREAM = (
    "arith-expand{include-bf16=true},convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,"
    "finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts"
)


#: What `tinyc.compile` compiles for.
TARGETS = ("cpu", "sim", "cuda", "reference")


@dataclass(frozen=True)
class Layer:
    """One layer's text: which layer it is made from, by which passes, and the suffix of its files.

    `options` are those of the passes' first (and then only) one that the user may give a value.
    """

    name: str
    source: str | None = None
    pipeline: str = ""
    suffix: str = ".mlir"
    options: tuple[str, ...] = ()


#: `indexbook` and `poly_view` are side tables beside the Tiny module.
_SHARED = (
    Layer("tiny"),
    Layer("indexbook", "tiny", "tiny-to-index-book"),
    Layer("poly_view", "tiny", "tiny-to-poly"),
    Layer("region", "tiny", "tiny-to-region"),
)
_CPU = (
    *_SHARED,
    Layer("exec", "region", "region-to-exec"),
    Layer("loops", "exec", "region-to-loops"),
    Layer("llvm", "loops", f"exec-expand-f16,exec-to-llvm,{UPSTREAM}", ".ll"),
)
#: The launch contract says grid and block, which the GPU kernels have: here `exec` is made from `gpu`.
_GPU = (
    *_SHARED,
    Layer("plan", "region", "region-plan", options=("arch", "plan")),
    Layer("gpu", "plan", "region-to-gpu", options=("arch",)),
    Layer("exec", "gpu", "region-to-exec"),
    Layer("nvvm", "gpu", "gpu-to-nvvm"),
    Layer("ptx", "nvvm", "nvvm-to-ptx", ".ptx"),
    Layer("cu", "gpu", "gpu-to-cuda", ".cu"),
)
#: Target → its layers in walk order. The reference runs what it is given, and shows what the CPU would make of it.
WALKS: dict[str, tuple[Layer, ...]] = {"cpu": _CPU, "sim": _GPU, "cuda": _GPU, "reference": _CPU}
#: Target → the last layer on the way to running there.
ENDS = {"cpu": "llvm", "sim": "ptx", "cuda": "ptx"}


def names_of(target: str) -> tuple[str, ...]:
    """Return the names of a target's layers in walk order."""
    return tuple(layer.name for layer in WALKS[target])
