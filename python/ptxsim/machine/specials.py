"""The special registers. Source: PTX ISA, "Special Registers"."""

from collections.abc import Callable

import numpy as np

from ptxsim.machine.cta import Batch, Read
from ptxsim.machine.warp import LANES
from ptxsim.memory.byte_array import WORDS
from ptxsim.memory.windows import SHARED_START
from ptxsim.parsing.syntax import Special
from ptxsim.parsing.types import TYPE_BITS
from ptxsim.semantics.operation import UnknownInstruction

_AXES = {"x": 0, "y": 1, "z": 2}
_LANES = LANES.astype(np.uint64)
_LANE_MASKS = {
    "%lanemask_eq": np.uint64(1) << _LANES,
    "%lanemask_lt": (np.uint64(1) << _LANES) - np.uint64(1),
    "%lanemask_le": (np.uint64(2) << _LANES) - np.uint64(1),
    "%lanemask_ge": np.uint64(0xFFFFFFFF) & (np.uint64(0xFFFFFFFF) << _LANES),
    "%lanemask_gt": np.uint64(0xFFFFFFFF) & (np.uint64(0xFFFFFFFE) << _LANES),
}
#: Threads (x, y, z) of every lane, and other vectors of three.
_VECTORS: dict[str, Callable[[Batch], tuple]] = {
    "%ntid": lambda batch: batch.launch.block,
    "%ctaid": lambda batch: batch.cta.index,
    "%nctaid": lambda batch: batch.launch.grid,
    "%clusterid": lambda batch: tuple(
        at // size for at, size in zip(batch.cta.index, batch.launch.cluster, strict=True)
    ),
    "%nclusterid": lambda batch: tuple(
        n // size for n, size in zip(batch.launch.grid, batch.launch.cluster, strict=True)
    ),
    "%cluster_ctaid": lambda batch: tuple(
        at % size for at, size in zip(batch.cta.index, batch.launch.cluster, strict=True)
    ),
    "%cluster_nctaid": lambda batch: batch.launch.cluster,
}
_SCALARS: dict[str, Callable[[Batch], int]] = {
    "%nwarpid": lambda batch: batch.cta.warp_count,
    "%smid": lambda batch: 0,
    "%nsmid": lambda batch: 1,
    "%gridid": lambda batch: 1,
    "%cluster_ctarank": lambda batch: batch.cta.rank,
    "%cluster_nctarank": lambda batch: len(batch.cta.peers),
    "%is_explicit_cluster": lambda batch: batch.launch.explicit_cluster,
    "%dynamic_smem_size": lambda batch: batch.launch.dynamic_shared_bytes,
    "%total_smem_size": lambda batch: batch.launch.shared_bytes,
    "%aggr_smem_size": lambda batch: batch.launch.shared_bytes,
    "%reserved_smem_offset_begin": lambda batch: 0,
    "%reserved_smem_offset_end": lambda batch: SHARED_START,
    "%clock": lambda batch: batch.launch.time,
    "%clock_hi": lambda batch: batch.launch.time >> 32,
    "%clock64": lambda batch: batch.launch.time,
    "%globaltimer": lambda batch: batch.launch.time,
    "%globaltimer_lo": lambda batch: batch.launch.time,
    "%globaltimer_hi": lambda batch: batch.launch.time >> 32,
}
#: Set by the driver, for nobody knows what: zeros.
_ENVIRONMENT = frozenset(f"%envreg{number}" for number in range(32))
#: Registers of 64 bits; all others have 32.
_WIDE = {"%gridid", "%clock64", "%globaltimer"}


def special_reader(operand: Special, type_name: str, opcode: str) -> Read:
    """How an instruction reads a special register as `type_name`.

    Raises:
        UnknownInstruction: there is no such register, or the instruction cannot read it so.
    """
    bits = TYPE_BITS.get(type_name, 32)
    if bits == 1:
        if operand.name != "%is_explicit_cluster":
            raise UnknownInstruction(f"'{operand.name}' is no predicate")
        return lambda batch: np.full((1, 1), batch.launch.explicit_cluster)
    name = operand.name
    if opcode not in ("mov", "cvt"):
        raise UnknownInstruction(f"special register '{name}' is read by mov and cvt only")
    if (bits > 32 and name not in _WIDE) or (bits < 64 and name in _WIDE):
        raise UnknownInstruction(f"special register '{name}' is no operand of type {type_name}")
    word, mask = WORDS[bits // 8], ~(-1 << bits)
    if name == "%tid" or name in _VECTORS:
        return _component(operand, word)
    if operand.component is not None:
        raise UnknownInstruction(f"'{name}' has no component '{operand.component}'")
    if name in _LANE_MASKS:
        lanes = _LANE_MASKS[name].astype(word)[None]
        return lambda batch: lanes
    if name == "%laneid":
        numbers = _LANES.astype(word)[None]
        return lambda batch: numbers
    if name == "%warpid":
        return lambda batch: batch.warps.astype(word)[:, None]
    if name in _SCALARS:
        read = _SCALARS[name]
        return lambda batch: np.full((1, 1), read(batch) & mask, word)
    if name in _ENVIRONMENT:
        return lambda batch: np.zeros((1, 1), word)
    raise UnknownInstruction(f"'{name}' is not a special register that the simulator knows")


def _component(operand: Special, word: np.dtype) -> Read:
    if operand.component not in _AXES:
        if operand.component == "w":
            return lambda batch: np.zeros((1, 1), word)
        raise UnknownInstruction(f"'{operand.name}' is a vector; name one of its components")
    axis = _AXES[operand.component]
    if operand.name == "%tid":
        return lambda batch: batch.select(batch.launch.thread_index[axis]).astype(word)
    read = _VECTORS[operand.name]
    return lambda batch: np.full((1, 1), read(batch)[axis], word)
