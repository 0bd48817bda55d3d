"""Programs on the simulator: a faulty kernel ends in an error that carries the report."""

import numpy as np
import pytest

import tinyc
from tinyc.runtime.program import Buffer, KernelLaunch, Pointer, Program
from tinyc.runtime.sim import SimExecutable

COPY = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<7>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  ld.param.u64 %rd2, [x];
  add.s64 %rd3, %rd2, %rd1;
  ld.global.u32 %r1, [%rd3];
  ld.param.u64 %rd4, [y];
  add.s64 %rd5, %rd4, %rd1;
  st.global.u32 [%rd5], %r1;
  ret;
}
"""


def program(threads: int) -> Program:
    """Return a program that copies four numbers with that many threads."""
    buffers = tuple(
        Buffer(f"{kind}_0", kind, "device", offset=0, size=16, element="i32", shape=(4,))
        for kind in ("input", "output")
    )
    pointers = tuple(Pointer(buffer.name, "i32", (4,)) for buffer in buffers)
    kernel = KernelLaunch("copy", 0, (1, 1, 1), (threads, 1, 1), (1, 1, 1), 0, pointers, ("input_0",), ("output_0",))
    return Program("main", (), ("x",), ("y",), (), buffers, (kernel,), 0)


def test_a_kernel_without_findings_gives_its_numbers():
    executable = SimExecutable(program(4), COPY)
    x = np.arange(4, dtype=np.int32)
    np.testing.assert_array_equal(executable.run({"x": x})["y"], x)
    (report,) = executable.reports
    assert report.ok
    assert report.counters.bytes["global"] == 32


def test_what_no_kernel_writes_is_no_number():
    assert SimExecutable(program(3), COPY).run({"x": np.arange(4, dtype=np.int32)})["y"][3] == -1


def test_a_finding_is_an_error_with_the_report():
    with pytest.raises(tinyc.SimulationError, match=r"kernel 'copy' is faulty.*\n.*out-of-bounds") as caught:
        SimExecutable(program(5), COPY).run({"x": np.arange(4, dtype=np.int32)})
    assert caught.value.name == "SimulationFinding"
    assert {finding.kind for finding in caught.value.report.findings} == {"out-of-bounds"}


def test_a_store_between_the_end_of_a_buffer_and_that_of_its_last_word_is_found():
    bytewise = COPY.replace("%r1, 4;", "%r1, 1;").replace("global.u32", "global.u8")
    buffers = tuple(
        Buffer(f"{kind}_0", kind, "device", offset=0, size=size, element="ui8", shape=(size,))
        for kind, size in (("input", 7), ("output", 5))
    )
    pointers = tuple(Pointer(buffer.name, "ui8", buffer.shape) for buffer in buffers)

    def run(threads: int) -> np.ndarray:
        kernel = KernelLaunch(
            "copy", 0, (1, 1, 1), (threads, 1, 1), (1, 1, 1), 0, pointers, ("input_0",), ("output_0",)
        )
        executable = SimExecutable(Program("main", (), ("x",), ("y",), (), buffers, (kernel,), 0), bytewise)
        return executable.run({"x": np.arange(7, dtype=np.uint8)})["y"]

    np.testing.assert_array_equal(run(5), np.arange(5))
    with pytest.raises(tinyc.SimulationError, match="out-of-bounds: writes behind the 5 bytes of output_0"):
        run(7)
