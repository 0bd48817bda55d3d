"""The CUDA device: a program and its PTX become a function on numpy arrays; the sibling of `cpu.py`.

The driver is not touched before the first run, so that a program is compiled where there is none. One run is one piece
of device memory, copies to it, the launches in the order of their generations, and copies back, all on one stream.
"""

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.runtime import sizes
from tinyc.runtime.assembler import assemble, find_ptxas
from tinyc.runtime.cuda_driver import Device
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.program import STATUS_BYTES, KernelLaunch, Pointer, Program, Status
from tinyc.target import target_of
from tinyc.target.target import Target

#: Where a buffer starts in the device's memory: as the driver aligns what it gives. What follows a buffer up to there
#: is nobody's: a compare-and-swap on the last 16 bits of one takes the whole 32-bit word.
DEVICE_ALIGNMENT_BYTES = 256
#: Where the status slots and the ConstPool are among the places of the buffers.
_STATUS, _POOL = "status", "pool"


class CudaExecutable(Executable):
    """A program that is ready to run on a GPU of the architecture `arch` ("sm_80": 8.0 or newer; "sm_90a": 9.0 only).

    A run raises also `NoDriver`, `UnsupportedTarget`, `LaunchTooLarge` and `DeviceFailure`; those of several threads
    take turns. `last_run_seconds` is the time that the kernels of the last one took. `binding` stands in for the
    driver's bindings.
    """

    def __init__(
        self,
        program: Program,
        ptx: str,
        arch: str,
        binding: Any = None,
        constants: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        super().__init__(program, constants)
        self.ptx, self.target = ptx, target_of(arch)
        self.last_run_seconds: float | None = None
        self._binding = binding
        self._lock = threading.Lock()
        self._device: Device | None = None
        self._kernels: dict[str, Any] = {}

    def release(self) -> None:
        """Give back what is loaded on the device; the next run loads it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._device is not None:
            self._device.close()
        self._device, self._kernels = None, {}

    def _execute(self, run: Run) -> None:
        with self._lock:
            try:
                self._run_on(self._opened(), run)
            except TinycError as error:
                if error.name == "DeviceFailure":  # all later calls fail in the context of one that has failed
                    self._close()
                raise

    def _run_on(self, device: Device, run: Run) -> None:
        launches = _launches(self.program, run.values, device)
        places, size_bytes = _places(self.program, run.values)
        with device.current(), device.memory(size_bytes) as base:
            for position, array in enumerate(run.inputs):
                device.upload(base + places[f"input_{position}"], array)
            if self.program.pool_bytes:
                device.upload(base + places[_POOL], run.pool)
            device.upload(base + places[_STATUS], run.status)
            with device.timed():
                for launch in launches:
                    self._launch(device, launch, base, places)
                    self._tell_writes(run, launch.kernel, lambda name, size: device.contents(base + places[name], size))
            for position, array in enumerate(run.outputs):
                device.download(array, base + places[f"output_{position}"])
            device.download(run.status, base + places[_STATUS])
            self.last_run_seconds = device.finish()

    def _opened(self) -> Device:
        """The device with the program's kernels, loaded at the first run; what fails leaves nothing open."""
        if self._device is None:
            with contextlib.ExitStack() as undo:
                device = Device(self._binding)
                undo.callback(device.close)
                code = _machine_code(self.ptx, self.target, device)
                with device.current():
                    module = device.load(code)
                    symbols = dict.fromkeys(kernel.symbol for kernel in self.program.kernels)
                    self._kernels = {symbol: device.kernel(module, symbol) for symbol in symbols}
                self._device = device
                undo.pop_all()
        return self._device

    def _launch(self, device: Device, launch: "_Launch", base: int, places: Mapping[str, int]) -> None:
        parameters: list[int] = []
        for parameter in launch.kernel.parameters:
            if isinstance(parameter, Pointer):
                parameters.append(base + places[parameter.buffer])
            elif isinstance(parameter, Status):
                parameters.append(base + places[_STATUS] + parameter.slot * STATUS_BYTES)
            else:
                parameters.append(launch.value(parameter.value))
        block = [launch.value(size) for size in launch.kernel.block]
        shared = launch.value(launch.kernel.dynamic_shared_bytes)
        device.launch(self._kernels[launch.kernel.symbol], launch.grid, block, shared, parameters)


@dataclass(frozen=True)
class _Launch:
    """A kernel at the sizes of one run."""

    kernel: KernelLaunch
    values: Mapping[str, int]

    def value(self, dim: Dim) -> int:
        """The value of an extent."""
        return sizes.extent_value(dim, self.values)

    @property
    def grid(self) -> tuple[int, ...]:
        """The numbers of CTAs along x, y and z."""
        return tuple(self.value(extent) for extent in self.kernel.grid)


def _launches(program: Program, values: Mapping[str, int], device: Device) -> list[_Launch]:
    """The launches of one run in order; an empty grid, which the driver refuses, has nothing to do.

    Raises:
        TinycError: `LaunchTooLarge`.
    """
    launches = [_Launch(kernel, values) for kernel in program.kernels]
    for launch in launches:
        for axis, ctas, limit in zip("xyz", launch.grid, device.grid_limits, strict=True):
            if ctas > limit:
                raise TinycError(
                    "LaunchTooLarge",
                    f"kernel '{launch.kernel.symbol}' needs a grid of {ctas} CTAs along {axis}, and {device.name} "
                    f"takes {limit}; {_REMEDIES[axis]}",
                    launch.kernel.where,
                )
    return [launch for launch in launches if all(launch.grid)]


_REMEDIES = {
    "x": "use smaller inputs, or larger tiles in the plan",
    "y": 'bind the longer axis to block.x in the plan, which takes more ("bind": {"m.o": "block.x", "n.o": '
    '"block.y"}), use larger tiles, or smaller inputs',
    "z": "use smaller batches",
}


def _places(program: Program, values: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Where each buffer and the status slots are in the device's memory of one run, and how large that is."""
    end = 0
    places: dict[str, int] = {}
    for buffer in (*program.of_kind("input"), *program.of_kind("output")):
        places[buffer.name] = end
        end += _aligned(sizes.extent_value(buffer.size, values))
    for buffer in program.of_kind("arena"):
        places[buffer.name] = end + sizes.extent_value(buffer.offset, values)
    end += _aligned(sizes.extent_value(program.arena_bytes, values))
    places[_POOL] = end
    for buffer in program.pool:
        places[buffer.name] = end + sizes.extent_value(buffer.offset, values)
    end += _aligned(program.pool_bytes)
    places[_STATUS] = end
    return places, end + _aligned(program.status_slots * STATUS_BYTES + 1)  # + 1: the driver gives no 0 bytes


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // DEVICE_ALIGNMENT_BYTES) * DEVICE_ALIGNMENT_BYTES


def _machine_code(ptx: str, target: Target, device: Device) -> bytes:
    """A cubin for the device where there is a ptxas that knows it, else the PTX, which the driver compiles.

    Raises:
        TinycError: `UnsupportedTarget`: the device does not run code for `target`.
    """
    needed, capability, is_exact = target.compute_capability, device.capability, target.is_architecture_specific
    if capability != needed if is_exact else capability < needed:
        shown, wanted = (".".join(map(str, each)) for each in (capability, needed))
        raise TinycError(
            "UnsupportedTarget",
            f"{device.name} has compute capability {shown}, and code for {target.name} needs {wanted}"
            f"{'' if is_exact else ' or newer'}; compile with another arch, or with target='cpu'",
        )
    try:
        if find_ptxas() is not None:
            return assemble(ptx, target.chip if is_exact else f"sm_{capability[0]}{capability[1]}").cubin
    except TinycError as error:
        if error.name != "UnsupportedTarget":  # a ptxas that is too old for the device
            raise
    return ptx.encode() + b"\0"
