"""The CUDA driver as one device: what `cuda.py` asks of it, and each way to fail as an error.

In: nothing until a `Device` is made; then the driver API, `cuda.bindings.driver`, which is imported here and nowhere
else. Out: memory, copies, kernels, launches and times on one stream of the first device that is visible.
"""

import contextlib
import importlib
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.runtime.bound import BoundLaunch

_BINDINGS = "cuda.bindings.driver"
_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_LOG_BYTES = 16384
#: What a kernel has of dynamic shared memory without asking for more.
_DEFAULT_SHARED_BYTES = 48 * 1024

_CPU = "or compile with target='cpu'"


class DriverError(Exception):
    """A call of the driver API that failed: which, and with what."""

    def __init__(self, function: str, code: Any, meaning: str) -> None:
        self.function, self.code, self.name, self.meaning = function, int(code), code.name, meaning
        super().__init__(f"{function} failed with {self.name} ({meaning})")


class Driver:
    """The functions of the driver API; `binding` is `cuda.bindings.driver`, or stands in for it."""

    def __init__(self, binding: Any = None) -> None:
        self.binding = binding or _imported()

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function and return its one result, or None.

        Raises:
            DriverError: it failed.
        """
        code, *results = getattr(self.binding, function)(*arguments)
        if int(code):
            raise DriverError(function, code, self.meaning(code))
        return results[0] if len(results) == 1 else tuple(results) or None

    def meaning(self, code: Any) -> str:
        """What a result means, in the driver's words."""
        failed, text = self.binding.cuGetErrorString(self.binding.CUresult(int(code)))
        return "unknown" if int(failed) or text is None else text.decode()

    def attribute(self, name: str, device: Any) -> int:
        """A number of the hardware."""
        attributes = self.binding.CUdevice_attribute
        return int(self.call("cuDeviceGetAttribute", getattr(attributes, f"CU_DEVICE_ATTRIBUTE_{name}"), device))


def _imported() -> Any:
    try:
        return importlib.import_module(_BINDINGS)
    except ImportError as error:
        raise TinycError(
            "NoDriver",
            f"the Python bindings of the CUDA driver are missing ({error}); install them with pip install "
            f"'tinyc[cuda]', {_CPU}",
        ) from None


def failure(error: DriverError, what: str = "", log: str = "") -> TinycError:
    """The error for a call that failed on a device that there is."""
    message = f"{what + ': ' if what else ''}{error}{'; the driver says: ' + log if log else ''}"
    return TinycError(
        "DeviceFailure", f"{message}; start the process anew, {_CPU} to see whether the device is at fault"
    )


class Device:
    """The first visible device, with a stream and events of its own; everything happens in stream order.

    Raises:
        TinycError: `NoDriver`: there is no driver or no device, or none that can be used.
    """

    def __init__(self, binding: Any = None) -> None:
        self.driver = driver = Driver(binding)
        _initialise(driver)
        try:
            self._handle = driver.call("cuDeviceGet", 0)
            self.name: str = driver.call("cuDeviceGetName", 128, self._handle).decode(errors="replace").rstrip("\0")
            self.capability = tuple(
                driver.attribute(f"COMPUTE_CAPABILITY_{part}", self._handle) for part in ("MAJOR", "MINOR")
            )
            self.grid_limits = tuple(driver.attribute(f"MAX_GRID_DIM_{axis}", self._handle) for axis in "XYZ")
            self._context = driver.call("cuDevicePrimaryCtxRetain", self._handle)
        except DriverError as error:
            raise failure(error, "opening the device") from None
        self._owned: dict[tuple[str, Any], None] = {}  # a function that gives back, and what, in order
        self._shared_bytes: dict[Any, int] = {}
        self._finalizer = weakref.finalize(self, _close, driver, self._handle, self._context, self._owned)
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            with self.current():
                self.stream = self.own("cuStreamDestroy", driver.call("cuStreamCreate", 1))  # 1: non-blocking
                self._events = [self.own("cuEventDestroy", driver.call("cuEventCreate", 0)) for _ in range(5)]
            undo.pop_all()

    def own(self, destroy: str, handle: Any) -> Any:
        """Note the function that gives `handle` back when the device is closed."""
        self._owned[destroy, handle] = None
        return handle

    def disown(self, destroy: str, handle: Any) -> None:
        """Give `handle` back now."""
        del self._owned[destroy, handle]
        _release(self.driver, destroy, handle)

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Make the device's context the thread's, as it has to be for all that follows."""
        try:
            with in_context(self.driver, self._context):
                yield
        except DriverError as error:
            raise failure(error, f"on {self.name}") from None

    def load(self, code: bytes) -> Any:
        """The module of a cubin, or of PTX (ended by a 0), which the driver compiles.

        Raises:
            TinycError: `DeviceFailure`, with what the driver's compiler says.
        """
        log, options = bytearray(_LOG_BYTES), self.driver.binding.CUjit_option
        keys = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        try:
            loaded = self.driver.call("cuModuleLoadDataEx", code, len(keys), keys, [log, len(log)])
        except DriverError as error:
            said = bytes(log).partition(b"\0")[0].decode(errors="replace").strip()
            raise failure(error, f"loading the kernels on {self.name}", said) from None
        return self.own("cuModuleUnload", loaded)

    def kernel(self, module: Any, name: str) -> Any:
        """A kernel of a module."""
        return self.driver.call("cuModuleGetFunction", module, name.encode())

    def allow_shared(self, kernel: Any, name: str, size_bytes: int) -> None:
        """Let the kernel called `name` have so much dynamic shared memory, and what it has been allowed before.

        Raises:
            TinycError: `LaunchTooLarge`.
        """
        if size_bytes > self._shared_bytes.get(kernel, _DEFAULT_SHARED_BYTES):
            attribute = self.driver.binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            try:
                self.driver.call("cuFuncSetAttribute", kernel, attribute, size_bytes)
            except DriverError as error:
                what = f"kernel '{name}' needs {size_bytes} bytes of dynamic shared memory for a CTA"
                message = f"{what}, and {self.name} refuses: {error}; choose smaller tiles or fewer stages"
                raise TinycError("LaunchTooLarge", message) from None
            self._shared_bytes[kernel] = size_bytes

    def allocate(self, size_bytes: int) -> int:
        """Reserve device memory until it is disowned, or the device closed; gives its address.

        Raises:
            TinycError: `OutOfMemory`.
        """
        return self.own("cuMemFree", reserve(self.driver, self.name, size_bytes))

    def free(self, address: int) -> None:
        """Give back what was allocated."""
        self.disown("cuMemFree", address)

    def gpu_of(self, address: int) -> int:
        """The number of the GPU whose memory an address is in; of what all of them reach, or no driver knows, 0."""
        attributes = self.driver.binding.CUpointer_attribute
        try:
            number = self.driver.call("cuPointerGetAttribute", attributes.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
            is_managed = self.driver.call("cuPointerGetAttribute", attributes.CU_POINTER_ATTRIBUTE_IS_MANAGED, address)
        except DriverError:  # memory of the system, which some GPUs reach, too
            return 0
        return 0 if is_managed else int(number)

    def wait_for(self, stream: int) -> None:
        """Let all that follows wait for what has been given to another stream so far."""
        event = self._events[4]
        self.driver.call("cuEventRecord", event, stream)
        self.driver.call("cuStreamWaitEvent", self.stream, event, 0)

    def copy(self, target: int, source: int, size_bytes: int) -> None:
        """Copy inside of the device's memory."""
        if size_bytes:
            self.driver.call("cuMemcpyDtoDAsync", target, source, size_bytes, self.stream)

    def upload(self, address: int, array: np.ndarray) -> None:
        """Copy a dense array to the device."""
        if array.nbytes:
            self.driver.call("cuMemcpyHtoDAsync", address, array.ctypes.data, array.nbytes, self.stream)

    def download(self, array: np.ndarray, address: int) -> None:
        """Copy to a dense array from the device."""
        if array.nbytes:
            self.driver.call("cuMemcpyDtoHAsync", array.ctypes.data, address, array.nbytes, self.stream)

    def contents(self, address: int, size_bytes: int) -> np.ndarray:
        """What the device's memory holds when all work so far is done."""
        found = np.empty(size_bytes, np.uint8)
        self.download(found, address)
        self.driver.call("cuStreamSynchronize", self.stream)
        return found

    def launch(self, kernel: Any, bound: BoundLaunch, parameters: int) -> None:
        """Launch a kernel; `parameters` is where the addresses of its parameters stand, which the driver reads."""
        if not bound.has_clusters:
            shape = (*bound.grid, *bound.block, bound.dynamic_shared_bytes)
            self.driver.call("cuLaunchKernel", kernel, *shape, self.stream, parameters, 0)
            return
        config, attribute = self.driver.binding.CUlaunchConfig(), self.driver.binding.CUlaunchAttribute()
        config.gridDimX, config.gridDimY, config.gridDimZ = bound.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = bound.block
        config.sharedMemBytes, config.hStream = bound.dynamic_shared_bytes, self.stream
        attribute.id = self.driver.binding.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size = attribute.value.clusterDim
        size.x, size.y, size.z = bound.cluster
        config.attrs, config.numAttrs = [attribute], 1
        self.driver.call("cuLaunchKernelEx", config, kernel, parameters, 0)

    @contextlib.contextmanager
    def timed(self, pair: int = 0) -> Iterator[None]:
        """Note when the work of the `with` block starts and ends on the device; there are two pairs of such notes."""
        start, end = self._events[2 * pair : 2 * pair + 2]
        self.driver.call("cuEventRecord", start, self.stream)
        yield
        self.driver.call("cuEventRecord", end, self.stream)

    def finish(self, pair: int = 0) -> float:
        """Wait for all work; return the seconds of the work that was timed last with that pair of notes."""
        self.driver.call("cuStreamSynchronize", self.stream)
        return self.driver.call("cuEventElapsedTime", *self._events[2 * pair : 2 * pair + 2]) / 1000

    @contextlib.contextmanager
    def settled(self) -> Iterator[None]:
        """Where something ends the `with` block early, wait for the work that is on its way: it uses arrays."""
        try:
            yield
        except BaseException:
            _release(self.driver, "cuStreamSynchronize", self.stream)
            raise

    def close(self) -> None:
        """Give back all that is loaded, and the device's context; the device cannot be used any more."""
        self._finalizer()


@contextlib.contextmanager
def in_context(driver: Driver, context: Any) -> Iterator[None]:
    """Make a context the thread's for the `with` block."""
    driver.call("cuCtxPushCurrent", context)
    try:
        yield
    finally:
        _release(driver, "cuCtxPopCurrent")


def reserve(driver: Driver, name: str, size_bytes: int) -> int:
    """The address of new memory on the device called `name`.

    Raises:
        TinycError: `OutOfMemory`.
    """
    try:
        return int(driver.call("cuMemAlloc", max(1, size_bytes)))  # it gives no 0 bytes
    except (DriverError, OverflowError) as error:  # the bindings take no size that 64 bits do not hold
        if isinstance(error, DriverError) and error.code != _OUT_OF_MEMORY:
            raise
        free, total = driver.call("cuMemGetInfo")
        raise TinycError(
            "OutOfMemory",
            f"the program needs {size_bytes} bytes of {name}'s memory, of which {int(free)} of {int(total)} "
            "bytes are free; use smaller inputs",
        ) from None


def require_gpu(binding: Any = None) -> None:
    """Check that there is a driver and a GPU, before anything is made for it.

    Raises:
        TinycError: `NoDriver`.
    """
    _initialise(Driver(binding))


def gpu_capability(binding: Any = None) -> tuple[int, int] | None:
    """The compute capability of the first visible device, 9 and 0; None where there is none that can be used."""
    try:
        driver = Driver(binding)
        _initialise(driver)
        handle = driver.call("cuDeviceGet", 0)
        major, minor = (driver.attribute(f"COMPUTE_CAPABILITY_{part}", handle) for part in ("MAJOR", "MINOR"))
        return major, minor
    except (TinycError, DriverError):
        return None


def _initialise(driver: Driver) -> None:
    """Start the driver and see that there is a device."""
    try:
        driver.call("cuInit", 0)
        count = int(driver.call("cuDeviceGetCount"))
    except RuntimeError as error:  # the bindings look for the library at the first call
        what = " ".join(str(error).split())
        raise TinycError(
            "NoDriver", f"there is no CUDA driver ({what}); install NVIDIA's driver for this machine's GPU, {_CPU}"
        ) from None
    except DriverError as error:
        if error.code != _NO_DEVICE:
            message = f"the CUDA driver does not start: {error}; mend its installation, {_CPU}"
            raise TinycError("NoDriver", message) from None
        count = 0
    if not count:
        message = f"the CUDA driver finds no GPU; see what nvidia-smi and CUDA_VISIBLE_DEVICES say, {_CPU}"
        raise TinycError("NoDriver", message)


def _close(driver: Driver, device: Any, context: Any, owned: dict[tuple[str, Any], None]) -> None:
    _release(driver, "cuCtxPushCurrent", context)
    for function, handle in reversed(owned):
        _release(driver, function, handle)
    _release(driver, "cuCtxPopCurrent")
    _release(driver, "cuDevicePrimaryCtxRelease", device)


def _release(driver: Driver, function: str, *arguments: Any) -> None:
    """Give something back; a failure of that after another error tells nothing."""
    with contextlib.suppress(DriverError):
        driver.call(function, *arguments)
