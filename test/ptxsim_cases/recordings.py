"""Recordings of small kernels: PTX in, what `ptxsim.clock.recording` writes down of its launch out."""

import ptxsim
from ptxsim.clock.recording.recorder import Recorder
from ptxsim.clock.recording.trace import Recording


def recording_of(text: str, args: list[object], threads: int = 32, **options) -> Recording:
    """The recording of kernel `k` with one CTA of `threads`, or as the options say."""
    recorder = Recorder()
    options = {"grid": (1, 1, 1), "block": (threads, 1, 1)} | options
    ptxsim.load(text).launch_observed(recorder, "k", args=args, **options)
    return recorder.recording()


def opcode_at(text: str, at: int) -> str:
    """The opcode of an instruction of kernel `k`."""
    return ptxsim.load(text)._code("k").instructions[at].opcode
