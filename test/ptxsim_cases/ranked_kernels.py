"""Kernels to be ranked: loops of `steps` turns, each of some dependent products and a barrier."""

import os
import signal

import numpy as np

from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking import rank
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.transport import receive_launches
from ptxsim_cases.kernel_text import OWN_WORD, kernel

PARAMETERS = ".param .u64 out, .param .u32 steps"


def chain_text(products: int) -> str:
    """PTX of a kernel that does `products` dependent multiply-adds in each of its steps."""
    turn = "fma.rn.f32 %f0, %f0, %f0, %f0; " * products
    return kernel(
        f"""{OWN_WORD} .reg .f32 %f<2>; cvt.rn.f32.u32 %f0, %r0; ld.param.u32 %r2, [steps]; mov.u32 %r1, 0;
again: .pragma "nounroll"; {turn}
bar.sync 0;
add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r2; @%p0 bra again;
st.global.f32 [%d0], %f0; ret;""",
        PARAMETERS,
    )


def chain_launch(products: int, steps: int, ctas: int = 1) -> KernelLaunch:
    """The launch of CTAs of one warp that do so many steps."""
    args = [np.zeros(32, np.float32), np.uint32(steps)]
    return KernelLaunch(chain_text(products), "k", (ctas, 1, 1), (32, 1, 1), args)


def chain_candidate(name: str, products: int, steps: int = 100) -> Candidate:
    """A candidate that does `steps` steps of so many products."""
    return Candidate(name, chain_launch(products, steps), lambda few: chain_launch(products, few), steps)


def end_process_of_two_ctas(sent: bytes, device: str) -> list[rank.Predicted]:
    """In place of `rank._predict` in its process: a launch of two CTAs ends that, as a lack of memory would."""
    if receive_launches(sent)[0].grid == (2, 1, 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return rank._predict(sent, device)
