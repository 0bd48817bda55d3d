"""The table of the layers that have a text: their names, in walk order, and the passes that make each.

Plain data: the command line reads it for its help and its checks without loading MLIR.
"""

from dataclasses import dataclass

#: From the result of --exec-to-llvm to the LLVM dialect. Intrinsics first, because LLVM vectorises sqrt and the like;
#: what has none goes to the C library.
UPSTREAM = (
    "arith-expand{include-bf16=true},convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,"
    "finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts"
)


@dataclass(frozen=True)
class Layer:
    """One layer's text: which layer it is made from, by which passes, and the suffix of its files."""

    name: str
    source: str | None = None
    pipeline: str = ""
    suffix: str = ".mlir"


#: The text layers in walk order. `indexbook` and `poly_view` are side tables beside the Tiny module.
LAYERS = (
    Layer("tiny"),
    Layer("indexbook", "tiny", "tiny-to-index-book"),
    Layer("poly_view", "tiny", "tiny-to-poly"),
    Layer("region", "tiny", "tiny-to-region"),
    Layer("exec", "region", "region-to-exec"),
    Layer("loops", "exec", "region-to-loops"),
    Layer("llvm", "loops", f"exec-expand-f16,exec-to-llvm,{UPSTREAM}", ".ll"),
)
NAMES = tuple(layer.name for layer in LAYERS)
