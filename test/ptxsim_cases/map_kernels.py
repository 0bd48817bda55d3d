"""Kernels that change a tensor map.

A warp loads one box [4, 8] of f32 by the map at `%d1` and stores it to `out`.
"""

import numpy as np

from ptxsim import Report
from ptxsim_cases.kernel_text import kernel, launch
from ptxsim_cases.tensor_maps import tiled

MAP_PARAMETERS = ".param .align 64 .b8 map[128], .param .u64 other, .param .u64 out"
MAP_VARIABLES = ".global .align 128 .b8 mine[128]; .global .u32 flag;"
#: %r0: the lane, %r1: 4 KiB of shared memory, %r2: an mbarrier, %r3: 128 bytes of shared memory with the map of the
#: parameter in it, %d1: 128 bytes of global memory, %d2: `other`, %p0: the first lane.
SETUP = """
.shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 full; .shared .align 128 .b8 copy[128];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, full; mov.u32 %r3, copy; mov.u64 %d1, mine;
ld.param.u64 %d2, [other]; ld.param.u64 %d3, [out]; setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared.b64 [%r2], 1; @%p0 fence.mbarrier_init.release.cluster; @%p0 fence.proxy.async;
mov.b64 %d4, map; mul.wide.u32 %d5, %r0, 4; add.u64 %d4, %d4, %d5; ld.param.u32 %r4, [%d4];
shl.b32 %r5, %r0, 2; add.u32 %r5, %r5, %r3; st.shared.u32 [%r5], %r4; bar.sync 0;
"""
LOAD = """
mov.u32 %r6, 0; mov.u32 %r7, 0;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r6, %r7}], [%r2];
wait_0: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra wait_0;
shl.b32 %r8, %r0, 2; add.u32 %r8, %r8, %r1; ld.shared.u32 %r9, [%r8]; add.u64 %d6, %d3, %d5; st.global.u32 [%d6], %r9;
"""
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n"
PUBLISH = """bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r3], 128;
"""


def replaced(field: str, value: object, ordinal: int | None = None, space: str = "shared::cta") -> str:
    """The first lane replaces a field: in the copy, or in global memory."""
    place = {"shared::cta": "%r3", "global": "%d1"}[space]
    kind = "b64" if field in ("global_address", "global_stride") else "b32"
    number = "" if ordinal is None else f"{ordinal}, "
    return f"@%p0 tensormap.replace.tile.{field}.{space}.b1024.{kind} [{place}], {number}{value};\n"


def distinct(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) + 1).astype(np.float32).reshape(shape)


def run(body: str, load: str = LOAD, tensor=None, other=None, **options) -> tuple[Report, np.ndarray]:
    """The report, and the box [4, 8] that came; the map of the parameter is of zeros."""
    out = np.full((4, 8), -1, np.float32)
    tensor = tiled(np.zeros((4, 8), np.float32), (8, 4)) if tensor is None else tensor
    other = distinct(5, 12) if other is None else other
    return launch(
        kernel(SETUP + body + load + "\nret;", MAP_PARAMETERS, MAP_VARIABLES), [tensor, other, out], **options
    ), out


#: Of the map in shared memory: it is that of `other` [5, 12].
OTHER = "".join(
    (
        replaced("global_address", "%d2"),
        replaced("global_dim", 12, 0),
        replaced("global_dim", 5, 1),
        replaced("global_stride", 48, 0),
    )
)
