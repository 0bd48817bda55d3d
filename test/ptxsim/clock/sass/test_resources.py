"""What `ptxas -v` says of kernels, and its warnings."""

from ptxsim.clock.sass.resources import PtxasWarning, ResourceUse, read_resources, read_warnings

SAID = """\
ptxas info    : 0 bytes gmem
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient \
register resources for the wgmma pipeline crossing function boundary at a function call in the function 'gemm'
ptxas kernels.ptx, line 12; warning : Advisory: Modifier '.sync' is missing
ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
ptxas info    : Function properties for gemm
    48 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 168 registers, used 9 barriers, 48 bytes cumulative stack size, 49152 bytes smem, 384 bytes cmem[0]
ptxas info    : Compiling entry function 'copy' for 'sm_90a'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""


def test_each_kernel_has_its_resources():
    assert read_resources(SAID) == {
        "gemm": ResourceUse(168, 40, 44, 48, 49152, 9),
        "copy": ResourceUse(8, 0, 0, 0, 0, 0),
    }


def test_warnings_have_their_code_line_and_kernel():
    ignored, serialized, advisory = read_warnings(SAID)
    assert (ignored.code, ignored.line, ignored.kernel) == ("C7508", 0, "")
    assert ignored.text.startswith("Potential Performance Loss: 'setmaxnreg' ignored")
    assert (serialized.code, serialized.kernel) == ("C7510", "gemm")
    assert advisory == PtxasWarning("", "Advisory: Modifier '.sync' is missing", 12, "")
