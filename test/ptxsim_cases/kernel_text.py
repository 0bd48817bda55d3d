"""PTX of small kernels for the engine's tests, and how they are run: a body, and what its parameters are.

In: instructions. Out: a module with one kernel `k`; `%r0 … %r31` are b32, `%d0 …` b64, `%h0 …` b16, `%p0 …` predicates.
"""

import numpy as np

import ptxsim
from ptxsim import Report

_HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
_REGISTERS = ".reg .b32 %r<32>; .reg .b64 %d<16>; .reg .b16 %h<16>; .reg .pred %p<8>; .reg .b128 %q<4>;\n"
#: %r0 is the thread's number in x; %d0 is where its own word of the array `out` is.
OWN_WORD = """
ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;
"""


def kernel(body: str, parameters: str = ".param .u64 out", module: str = "", directives: str = "") -> str:
    """A module whose kernel `k` has the body."""
    return f"{_HEAD}{module}\n.visible .entry k({parameters})\n{directives}\n{{\n{_REGISTERS}{body}\n}}\n"


def launch(text: str, args: list[object], threads: int = 32, **options) -> Report:
    """Run kernel `k` with one CTA of `threads`, or as the options say."""
    options = {"grid": (1, 1, 1), "block": (threads, 1, 1)} | options
    return ptxsim.load(text).launch("k", args=args, **options)


def words(body: str, threads: int = 32, **options) -> np.ndarray:
    """What the threads of a CTA store to `[%d0]`, a u32 each; the launch finds nothing."""
    out = np.full(threads, 0xA5A5A5A5, np.uint32)
    report = launch(kernel(OWN_WORD + body + "\nret;", **options), [out], threads)
    assert report.ok, str(report)
    return out


def kinds(report: Report) -> set[str]:
    """The kinds of what was found."""
    return {finding.kind for finding in report.findings}


def kinds_of_two_warps(body: str, **options) -> set[str]:
    """The kinds of what is found in a kernel of 64 threads, reads of shared memory before it is written left out."""
    report = launch(kernel(f"{OWN_WORD}{body}\nret;"), [np.zeros(64, np.uint32)], 64, **options)
    return kinds(report) - {"uninitialized"}
