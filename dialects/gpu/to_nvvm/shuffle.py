"""`gpu.shuffle` in NVVM's terms: a `shfl.sync` of the whole warp for each 32 bits of a value."""

# `mlir.nvvm` is imported when it is first used, as in `memory`.
from tinyc import mlir
from tinyc.dialects.gpu.kernel import WARP_LANES, shuffle_mode
from tinyc.mlir import arith, gpu, ir

#: By mode of `gpu.shuffle`: the kind of `shfl.sync`, and the last lane that it may read (PTX ISA, "shfl.sync").
_KINDS = {
    "xor": ("bfly", WARP_LANES - 1),
    "up": ("up", 0),
    "down": ("down", WARP_LANES - 1),
    "idx": ("idx", WARP_LANES - 1),
}


def lower_shuffle(op: gpu.ShuffleOp) -> ir.Value:
    """Emit the exchange; return the value of the other lane.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    mode, kind = shuffle_mode(op), op.value.type
    i32, i64 = (ir.IntegerType.get_signless(bits) for bits in (32, 64))
    if kind in (i32, ir.F32Type.get()):
        return _shuffled(op, mode, op.value)
    is_float = isinstance(kind, ir.F64Type)
    bits, half = arith.bitcast(i64, op.value) if is_float else op.value, arith.constant(i64, 32)
    words = arith.trunci(i32, bits), arith.trunci(i32, arith.shrui(bits, half))
    low, high = (arith.extui(i64, _shuffled(op, mode, word)) for word in words)
    joined = arith.ori(low, arith.shli(high, half))
    return arith.bitcast(kind, joined) if is_float else joined


def _shuffled(op: gpu.ShuffleOp, mode: str, word: ir.Value) -> ir.Value:
    """Emit the exchange of 32 bits."""
    kind, last = _KINDS[mode]
    all_lanes, clamp = (arith.constant(ir.IntegerType.get_signless(32), number) for number in (-1, last))
    nvvm = mlir.nvvm
    return nvvm.ShflOp(all_lanes, word, op.offset, clamp, nvvm.ShflKind[kind], results=[word.type]).results[0]
