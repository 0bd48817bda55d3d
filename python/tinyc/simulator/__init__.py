"""A simulator of PTX from any compiler: runs kernels on the CPU, and finds what would go wrong on a GPU.

In: PTX text (8.x and 9.x, sm_80 and sm_90a) and numpy arrays. Out: the arrays as the kernel leaves them, and a report.
Written from the PTX ISA; imports nothing of the compiler's layers.

    module = simulator.load(ptx_text)
    report = module.launch("kernel", grid=(2, 1, 1), block=(128, 1, 1), args=[x, y, np.int32(1024)])
"""

from tinyc.simulator.asynchronous.tensor_map import TensorMap
from tinyc.simulator.module import CHECKS, Module, load
from tinyc.simulator.report import Counters, Finding, Report, Thread
from tinyc.simulator.syntax import PtxError

__all__ = ["CHECKS", "Counters", "Finding", "Module", "PtxError", "Report", "TensorMap", "Thread", "load"]
