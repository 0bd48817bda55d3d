"""PTX of small kernels that copy one tile in bulk, and how they are run.

In: instructions behind `SETUP`. Out: a launch with arrays `a` and `b`, addresses %d1 and %d2.
"""

import numpy as np

from ptxsim import Report
from ptxsim_cases.kernel_text import kernel, launch

BYTES = 256
#: `tile` are 256 bytes and `full` an mbarrier of one arrival, at %r1 and %r2; %p0 is true for one thread.
SETUP = """
.shared .align 128 .b8 tile[256]; .shared .align 8 .b64 full;
ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, full;
setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r2], 1;
@%p0 fence.mbarrier_init.release.cluster; @%p0 fence.proxy.async; bar.sync 0;
mov.u32 %r3, %cluster_ctarank; mapa.shared::cluster.u32 %r4, %r1, %r3; xor.b32 %r5, %r3, 1;
"""
PARAMETERS = ".param .u64 a, .param .u64 b"
WAIT = "wait_{0}: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], {0}; @!%p1 bra wait_{0};\n"
#: Thread t stores or loads word t of the tile, and then all threads meet.
WRITE_TILE = """shl.b32 %r10, %r0, 2; add.u32 %r11, %r1, %r10; cvt.u64.u32 %d3, %r10; add.u64 %d4, %d1, %d3;
ld.global.u32 %r12, [%d4]; st.shared.u32 [%r11], %r12; fence.proxy.async; bar.sync 0;
"""
READ_TILE = """shl.b32 %r10, %r0, 2; add.u32 %r11, %r1, %r10; cvt.u64.u32 %d3, %r10; add.u64 %d4, %d2, %d3;
ld.shared.u32 %r12, [%r11]; st.global.u32 [%d4], %r12;
"""
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
FINISH = "@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;\n"


def expect(count: int = BYTES) -> str:
    """How one thread arrives at the mbarrier and expects bytes."""
    return f"@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {count};\n"


def run(body: str, a: np.ndarray, b: np.ndarray, threads: int = 64, **options) -> Report:
    """Run `body` after `SETUP` with arrays `a` and `b`."""
    return launch(kernel(SETUP + body + "\nret;", PARAMETERS), [a, b], threads, **options)


def clean(body: str, a: np.ndarray, b: np.ndarray, **options) -> Report:
    """Run `body`; the launch finds nothing."""
    report = run(body, a, b, **options)
    assert report.ok, str(report)
    return report


def numbers(count: int = 64) -> np.ndarray:
    """Random numbers, none of them 0, which is what memory begins with."""
    return np.random.default_rng(count).integers(1, 2**31, count).astype(np.uint32)
