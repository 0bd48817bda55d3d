"""The kernels of a model as the simulator and its clock launch them, with zeros in all buffers.

In: a model whose sizes are numbers. Out: `KernelLaunch`es.
"""

import numpy as np

import tinyc
from ptxsim import TensorMap
from ptxsim.clock.kernel_launch import KernelLaunch
from tinyc.runtime import program
from tinyc.runtime.status import fresh_status


def launches_of(model: tinyc.Model) -> list[KernelLaunch]:
    """The launches of a run, in order."""
    host, ptx = model.lowering.program(), model.text("ptx")
    buffers = {each.name: np.zeros([int(side) for side in each.shape], each.element.dtype) for each in host.buffers}
    return [
        KernelLaunch(
            ptx,
            kernel.symbol,
            _three(kernel.grid),
            _three(kernel.block),
            [_argument(each, buffers, host) for each in kernel.parameters],
            int(kernel.dynamic_shared_bytes),
            _three(kernel.cluster),
        )
        for kernel in (each.at({}) for each in host.kernels)
    ]


def _argument(parameter: program.Parameter, buffers: dict[str, np.ndarray], host: program.Program) -> object:
    if isinstance(parameter, program.Pointer):
        return buffers[parameter.buffer]
    if isinstance(parameter, program.Status):
        return fresh_status(host)
    if isinstance(parameter, program.ExtentValue):
        return np.int64(int(parameter.value))
    tiling, rank = parameter.tiling, len(parameter.tiling.dims)
    return TensorMap.tiled(
        rank,
        buffers[parameter.buffer],
        [int(each) for each in tiling.dims],
        [int(each) for each in tiling.strides],
        list(tiling.box),
        [1] * rank,
        swizzle=f"{tiling.swizzle}B" if tiling.swizzle else "none",
    )


def _three(extents: program.Grid) -> tuple[int, int, int]:
    x, y, z = (int(each) for each in extents)
    return x, y, z
