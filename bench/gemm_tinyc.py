"""tinyc's side of `gemm.py`: a product compiled, predicted by the clock, and launched on a stream of somebody else's.

A launch here is that of `target="cuda"`, from the second one on by a graph, without what a run from Python adds:
nothing is copied, and nobody waits. So it is timed as the others are, by events of their stream.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tinyc
from gemm_cases import Product
from tinyc import simulator
from tinyc.driver.predictions import predictions
from tinyc.driver.profile import Prediction
from tinyc.plan.fields import Plan
from tinyc.runtime import assembler
from tinyc.runtime.bound import BoundLaunch, BoundProgram, bind_program
from tinyc.runtime.cuda_driver import Device
from tinyc.runtime.cuda_frame import DeviceFrame
from tinyc.runtime.program import Parameter, Pointer, Status, TensorMapParameter
from tinyc.runtime.status import fresh_status


@dataclass(frozen=True)
class CompiledProduct:
    """A product as PTX for an architecture, at its sizes; `told` is what the compiler expects of it."""

    product: Product
    arch: str
    ptx: str
    bound: BoundProgram
    told: Prediction

    @classmethod
    def of(cls, product: Product, arch: str, plan: Plan | None) -> "CompiledProduct":
        """Compile it.

        Raises:
            TinycError: the plan is refused.
        """
        model = tinyc.compile(product.program, target="cuda", arch=arch, plan=product.plan(plan))
        program = model.lowering.program()
        bound = bind_program(program, tuple(product.shapes.values()))
        names = [launch.kernel.symbol for launch in bound.launches]
        told = predictions(model.lowering, bound, {model.outputs: names})[model.outputs]
        return cls(product, arch, model.text("ptx"), bound, told)


def clocked_seconds(compiled: CompiledProduct, device: str) -> float:
    """What the clock predicts that its launches take, one after the other.

    Raises:
        TinycError: there is no such device, ptxas or nvdisasm is missing, or the clock refuses a kernel.
    """
    module, bound = simulator.load(compiled.ptx), compiled.bound
    elements = {each.name: each.element.dtype for each in bound.program.buffers}
    memory = {name: np.zeros(shape, elements[name]) for name, shape in bound.shapes.items()}
    status = fresh_status(bound.program)
    return sum(
        module.time(
            launch.kernel.symbol,
            launch.grid,
            launch.block,
            _arguments(launch, memory, status),
            device,
            launch.dynamic_shared_bytes,
            launch.cluster,
        ).seconds
        for launch in bound.launches
    )


def _arguments(launch: BoundLaunch, memory: Mapping[str, np.ndarray], status: np.ndarray) -> list[object]:
    """What a launch is called with on the simulator."""
    extents, maps = iter(launch.extents), iter(launch.tensor_maps)

    def argument(parameter: Parameter) -> object:
        if isinstance(parameter, Pointer):
            return memory[parameter.buffer]
        if isinstance(parameter, Status):
            return status[parameter.slot]
        if not isinstance(parameter, TensorMapParameter):
            return np.int64(next(extents))
        placed, array = next(maps), memory[parameter.buffer].view(parameter.element.dtype)
        swizzle = f"{placed.swizzle}B" if placed.swizzle else "none"
        dims, ones = placed.dims, (1,) * len(placed.dims)
        return simulator.TensorMap.tiled(len(dims), array, dims, placed.strides, placed.box, ones, swizzle=swizzle)

    return [argument(each) for each in launch.kernel.parameters]


class StreamLaunch:
    """A product that is ready on the device: each call launches it on the stream whose handle is given.

    `addresses` are those of the inputs by name and of the output, `c`. `binding` stands in for the driver's.
    """

    def __init__(
        self, compiled: CompiledProduct, addresses: Mapping[str, int], stream: int, binding: Any = None
    ) -> None:
        self._device = device = Device(binding)
        device.stream = stream
        program = compiled.bound.program
        with device.current():
            module = device.load(_machine_code(compiled))
            kernels = {each.symbol: device.kernel(module, each.symbol) for each in program.launches}
            self._frame = DeviceFrame(device, compiled.bound, kernels)
            inputs = {f"input_{at}": addresses[name] for at, name in enumerate(program.inputs)}
            held = self._frame.memory.places(())
            self._places = {**held, **inputs, "output_0": addresses["c"]}

    def __call__(self) -> None:
        """Launch it; nobody waits for it."""
        with self._device.current():
            self._frame.launch(self._places, 0, None)

    def close(self) -> None:
        """Give back what it has on the device."""
        self._device.close()


def _machine_code(compiled: CompiledProduct) -> bytes:
    """Its cubin, or the PTX, which the driver compiles, where there is no ptxas."""
    if assembler.find_ptxas() is None:
        return compiled.ptx.encode() + b"\0"
    return assembler.assemble(compiled.ptx, compiled.arch).cubin
