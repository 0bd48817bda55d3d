"""The CUDA device: a program and its PTX become a function on numpy arrays and on arrays of a GPU.

The sibling of `cpu.py`. The driver is not touched before the first run, so that a program is compiled where there is
none. The memory that runs at some sizes need is reserved once and kept; so is the graph of their launches, from the
second run on. Inputs and outputs in the memory of the GPU are read and written where they are; others are copied.
Everything happens on one stream, and is done when a run returns.
"""

import contextlib
import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tinyc.diagnostics import TinycError, Where, remark
from tinyc.runtime.arrays import as_array, mismatch
from tinyc.runtime.assembler import assemble, find_ptxas
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.cuda_driver import Device
from tinyc.runtime.cuda_frame import DeviceFrame, Watch
from tinyc.runtime.cuda_graph import STATUS
from tinyc.runtime.cuda_memory import ResultMemory
from tinyc.runtime.device_array import DeviceView, device_view, is_on_device, require_first_gpu
from tinyc.runtime.executable import KEPT_SIZES, Executable, Run
from tinyc.runtime.outputs import Output, fresh_array, output_memory, output_mismatch
from tinyc.runtime.program import Program
from tinyc.runtime.status import check_status
from tinyc.runtime.tensor_map import MAP_ALIGNMENT_BYTES
from tinyc.target import target_of
from tinyc.target.target import Target

#: What a function gives that reserves memory.
Reserved = TypeVar("Reserved")


class CudaExecutable(Executable[None]):
    """A program that is ready to run on a GPU of the architecture `arch` ("sm_80": 8.0 or newer; "sm_90a": 9.0 only).

    Results stay on the GPU, as `DeviceArray`, where all inputs are there. A run raises also `NoDriver`,
    `UnsupportedTarget`, `LaunchTooLarge` and `DeviceFailure`; those of several threads take turns.
    `last_run_seconds` is the time that the kernels of the last one took. `binding` stands in for the driver's bindings.
    """

    def __init__(
        self,
        program: Program,
        ptx: str,
        arch: str,
        binding: Any = None,
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        super().__init__(program, arrays, _read_input)
        self.ptx, self.target = ptx, target_of(arch)
        self.last_run_seconds: float | None = None
        self._binding = binding
        self._lock = threading.RLock()
        self._device: Device | None = None
        self._kernels: dict[str, Any] = {}
        self._frames: OrderedDict[BoundProgram, DeviceFrame] = OrderedDict()
        self._results: ResultMemory | None = None
        #: Where the ConstPool is on the device, and how often weights had been set when it was copied there.
        self._pool_at: int | None = None
        self._pool_version: int | None = None

    def release(self) -> None:
        """Give back what is on the device, results that are still in use excepted; the next run begins anew."""
        super().release()
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._device is not None:
            self._device.close()
        self._device, self._kernels, self._results = None, {}, None
        self._pool_at = self._pool_version = None
        self._frames.clear()

    def _prepare(self, bound: BoundProgram) -> None:
        """Nothing: what is on the device is made when the device is open."""

    def _output_memory(self, bound: BoundProgram, out: Mapping[str, Any], given: Sequence[Any]) -> dict[str, Any]:
        taken = {each.name: _read_output(each, out[each.name]) for each in bound.outputs if each.name in out}
        stays = bool(given) and all(isinstance(each, DeviceView) for each in given)
        return output_memory(bound.outputs, taken, given, self._fresh_result if stays else fresh_array)

    def _fresh_result(self, output: Output) -> Any:
        with self._lock:
            device = self._opened()
            with device.current():
                results = self._results = self._results or ResultMemory(device.driver, device.name)
                return self._with_room(lambda: results.array(output))

    def _execute(self, run: Run, prepared: None) -> None:
        with self._lock:
            try:
                device = self._opened()
                with device.current(), device.settled():
                    status = self._run_on(device, run)
            except TinycError as error:
                if error.name == "DeviceFailure":  # all later calls fail in the context of one that has failed
                    self._close()
                raise
            check_status(self.program, status)

    def _run_on(self, device: Device, run: Run) -> np.ndarray:
        """Run on the open device; what the status slots hold then."""
        _require_device(device, run)
        frame, direct = self._frame(device, run.bound), _direct(run)
        inputs = {f"input_{position}": array for position, array in enumerate(run.inputs)}
        outputs = {f"output_{position}": array for position, array in enumerate(run.outputs)}
        copied = [name for name in (*inputs, *outputs) if name not in direct]
        held = self._with_room(lambda: frame.memory.places(copied), frame)
        places = {**held, **direct, **self._pool_places(device, frame, run)}
        views = [each for each in (*inputs.values(), *outputs.values()) if isinstance(each, DeviceView)]
        for stream in {each.stream for each in views if each.stream is not None}:
            device.wait_for(stream)
        for name, array in inputs.items():
            if name in direct:
                continue
            if isinstance(array, DeviceView):
                device.copy(places[name], array.address, array.nbytes)
            else:
                device.upload(places[name], array)
        device.upload(places[STATUS], frame.clean_status)
        with device.timed():
            frame.launch(places, run.key, self._watch(device, run, places))
        for name, array in outputs.items():
            if isinstance(array, np.ndarray):
                device.download(array, places[name])
            elif name not in direct:
                device.copy(array.address, places[name], array.nbytes)
        device.download(frame.status, places[STATUS])
        self.last_run_seconds = device.finish()
        return frame.status

    def _pool_places(self, device: Device, frame: DeviceFrame, run: Run) -> Mapping[str, int]:
        """Where the buffers of the ConstPool are, which is copied to the device and prepared when weights were set."""
        if run.pool is None:
            return {}
        if self._pool_at is None:
            size_bytes = len(run.pool.memory)
            self._pool_at = self._with_room(lambda: device.allocate(size_bytes), frame)
        places = {name: self._pool_at + offset for name, offset in run.bound.pool_offsets.items()}
        if self._pool_version != run.pool.version:
            device.upload(self._pool_at, run.pool.memory)
            frame.prepare(places)
            self._pool_version = run.pool.version
        return places

    def _watch(self, device: Device, run: Run, places: Mapping[str, int]) -> Watch | None:
        """What tells a run's observer and timer of a launch, if there is one of them."""
        if run.observe is None and run.timer is None:
            return None

        def watch(launch: BoundLaunch, seconds: float) -> None:
            if run.timer is not None:
                run.timer(run.bound, launch, seconds)
            if run.observe is not None:
                contents = functools.partial(_contents, device, places)
                self._tell_writes(run, run.observe, launch.kernel, contents)

        return watch

    def _frame(self, device: Device, bound: BoundProgram) -> DeviceFrame:
        """What runs at these sizes have in common; that of the sizes that have not been run for longest goes."""
        if bound not in self._frames:
            self._frames[bound] = DeviceFrame(device, bound, self._kernels)
            if len(self._frames) > KEPT_SIZES:
                self._frames.popitem(last=False)[1].close()
        self._frames.move_to_end(bound)
        return self._frames[bound]

    def _with_room(self, reserve: Callable[[], Reserved], frame: DeviceFrame | None = None) -> Reserved:
        """What `reserve` gives; where memory is short, what is kept for later runs and not of `frame` is given back."""
        try:
            return reserve()
        except TinycError as error:
            others = [bound for bound, each in self._frames.items() if each is not frame]
            if error.name != "OutOfMemory" or not (self._trimmed() or others):
                raise
        for bound in others:
            self._frames.pop(bound).close()
        return reserve()

    def _trimmed(self) -> bool:
        """Whether results had left memory, which is given back."""
        return self._results is not None and self._results.trim()

    def _opened(self) -> Device:
        """The device with the program's kernels, loaded at the first run; what fails leaves nothing open."""
        if self._device is None:
            with contextlib.ExitStack() as undo:
                device = Device(self._binding)
                undo.callback(device.close)
                code = _machine_code(self.ptx, self.target, device)
                with device.current():
                    module = device.load(code)
                    symbols = [launch.symbol for launch in self.program.launches]
                    self._kernels = {symbol: device.kernel(module, symbol) for symbol in symbols}
                self._device = device
                undo.pop_all()
        return self._device


def _read_input(name: str, value: Any, expected: np.dtype) -> Any:
    """An input as the GPU takes it: where it is, if that is the GPU's memory, otherwise a numpy array.

    Raises:
        TinycError: `InputMismatch`.
    """
    if not isinstance(value, DeviceView) and not is_on_device(value):
        return as_array(name, value)
    try:
        return device_view(value, expected)
    except ValueError as error:
        raise mismatch(name, f"input '{name}', a {type(value).__name__}, {error}") from None


def _read_output(output: Output, value: Any) -> Any:
    """What the user gives for an output, as the GPU fills it.

    Raises:
        TinycError: `OutputMismatch`.
    """
    if not isinstance(value, DeviceView) and not is_on_device(value):
        return value
    try:
        return device_view(value, output.dtype)
    except ValueError as error:
        message = f"out: the array for output '{output.name}', a {type(value).__name__}, {error}"
        raise output_mismatch(output.name, message) from None


def _require_device(device: Device, run: Run) -> None:
    """Check that the arrays are in the device's memory whose producers do not tell where they are.

    Raises:
        TinycError: `InputMismatch`, `OutputMismatch`.
    """
    program = run.bound.program
    for kind, names, arrays in (("input", program.inputs, run.inputs), ("output", program.outputs, run.outputs)):
        for name, array in zip(names, arrays, strict=True):
            if isinstance(array, DeviceView) and array.device is None and array.nbytes:
                try:
                    require_first_gpu(device.gpu_of(array.address))
                except ValueError as error:
                    message = f"{kind} '{name}', a {type(array.owner).__name__}, {error}"
                    raise (mismatch if kind == "input" else output_mismatch)(name, message) from None


def _contents(device: Device, places: Mapping[str, int], name: str, size_bytes: int) -> np.ndarray:
    return device.contents(places[name], size_bytes)


def _direct(run: Run) -> dict[str, int]:
    """Where the inputs and outputs are that kernels read and write in the user's memory."""
    read = [each for each in run.inputs if isinstance(each, DeviceView)]
    mapped = {each.buffer for launch in run.bound.launches for each in launch.kernel.tensor_maps}
    found: dict[str, int] = {}
    for at, (name, each) in enumerate(zip(run.bound.program.inputs, run.inputs, strict=True)):
        if not isinstance(each, DeviceView):
            continue
        if f"input_{at}" in mapped and each.address % MAP_ALIGNMENT_BYTES:
            message = f"input '{name}' is copied: {_UNALIGNED}"
            remark("input-copied", Where(node=name), message, copied_bytes=each.nbytes)
        else:
            found[f"input_{at}"] = each.address
    for at, (output, each) in enumerate(zip(run.bound.outputs, run.outputs, strict=True)):
        if not isinstance(each, DeviceView):
            continue
        if any(each.overlaps(other) for other in read):
            why = ", which an input is in"
        elif f"output_{at}" in mapped and each.address % MAP_ALIGNMENT_BYTES:
            why = f": {_UNALIGNED}"
        else:
            found[f"output_{at}"] = each.address
            continue
        message = f"output '{output.name}' is copied to its array{why}"
        remark("output-copied", Where(node=output.name), message, copied_bytes=each.nbytes)
    return found


_UNALIGNED = f"a tensor map needs memory at a multiple of {MAP_ALIGNMENT_BYTES} bytes"


def _machine_code(ptx: str, target: Target, device: Device) -> bytes:
    """A cubin for the device where there is a ptxas that knows it, else the PTX, which the driver compiles.

    Raises:
        TinycError: `UnsupportedTarget`: the device does not run code for `target`.
    """
    needed, capability, is_exact = target.compute_capability, device.capability, target.is_architecture_specific
    if not target.runs_on(capability):
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
