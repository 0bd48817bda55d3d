"""A CUDA driver without a GPU: its memory is this process', its kernels are Python functions, and every call is noted.

It stands in for `cuda.bindings.driver`. A copy or an access that is not inside one piece of memory that has been
reserved, and not been given back, fails; memory that is reserved holds no zeros.
"""

# ruff: noqa: N802 - the functions have the driver's names
import ctypes
import enum
from types import SimpleNamespace

import numpy as np

Result = enum.IntEnum(
    "Result",
    {
        "CUDA_SUCCESS": 0,
        "CUDA_ERROR_INVALID_VALUE": 1,
        "CUDA_ERROR_OUT_OF_MEMORY": 2,
        "CUDA_ERROR_NO_DEVICE": 100,
        "CUDA_ERROR_INVALID_PTX": 218,
        "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803,
    },
)
Attribute = enum.Enum(
    "Attribute",
    [
        f"CU_DEVICE_ATTRIBUTE_{name}"
        for name in (
            "COMPUTE_CAPABILITY_MAJOR",
            "COMPUTE_CAPABILITY_MINOR",
            "MAX_GRID_DIM_X",
            "MAX_GRID_DIM_Y",
            "MAX_GRID_DIM_Z",
        )
    ],
)
_STREAM, _MODULE = 71, 72


_U32, _U64 = ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_uint64)
_Encoder = ctypes.CFUNCTYPE(
    ctypes.c_int,
    *(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64, _U64, _U64, _U32, _U32),
    *[ctypes.c_int] * 4,
)


class FakeDriver:
    """The driver; `kernels` are functions of (driver, grid, parameters), each with how many parameters it has.

    `failing` says what the functions in it return: a `Result` by the function's name.
    """

    CUresult = Result
    CUdevice_attribute = Attribute
    CUpointer_attribute = enum.Enum(
        "PointerAttribute", ["CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL", "CU_POINTER_ATTRIBUTE_IS_MANAGED"]
    )
    CUjit_option = enum.Enum("Option", ["CU_JIT_ERROR_LOG_BUFFER", "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES"])
    CUfunction_attribute = enum.Enum("FunctionAttribute", ["CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"])
    CUlaunchAttributeID = enum.Enum("LaunchAttribute", ["CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"])
    CUkernelNodeAttrID = enum.Enum("NodeAttribute", ["CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"])
    CUlaunchConfig = SimpleNamespace

    def __init__(self, kernels=None, capability=(8, 0), grid_limits=(2**31 - 1, 65535, 65535), failing=None):
        self.kernels = {} if kernels is None else kernels
        self.failing = failing or {}
        self.calls: list[tuple] = []
        self.memory: dict[int, np.ndarray] = {}
        self.graphs: list[dict] = []  # of each its nodes, with kernel, grid and parameters
        numbers = (*capability, *grid_limits)
        self._attributes = dict(zip(Attribute, numbers, strict=True))
        self._names: list[str] = []
        self.encoded: list[tuple] = []  # what tensor maps were made of
        self._encode = _Encoder(self._encode_map)  # the driver's own function, which is called by its address

    def __getattr__(self, name):
        """Return the driver's function of that name: it notes the call, and fails where it is told to."""
        if not name.startswith("cu"):
            raise AttributeError(name)

        def function(*arguments):
            self.calls.append((name, *arguments))
            if name in self.failing:
                return (self.failing[name], None)
            result = getattr(self, f"_{name}", lambda *_: None)(*arguments)
            return (Result.CUDA_SUCCESS,) if result is None else (Result.CUDA_SUCCESS, result)

        return function

    def named(self, *names):
        """Return the calls of some functions, in order."""
        return [call for call in self.calls if call[0] in names]

    def array(self, address, count, dtype=np.float32):
        """Return device memory as an array: it must be inside one live piece."""
        size_bytes = count * np.dtype(dtype).itemsize
        for base, piece in self.memory.items():
            if base <= address and address + size_bytes <= base + piece.nbytes:
                return piece[address - base :][:size_bytes].view(dtype)
        raise AssertionError(f"{size_bytes} bytes at {address} are not in the device's memory")

    def cuGetErrorString(self, code):
        return (Result.CUDA_SUCCESS, f"meaning of {int(code)}".encode())

    def _cuDeviceGetCount(self):
        return 1

    def _cuDeviceGet(self, ordinal):
        return 5

    def _cuDeviceGetName(self, length, device):
        return b"Fake GPU\0\0"

    def _cuDeviceGetAttribute(self, attribute, device):
        return self._attributes[attribute]

    def _cuDevicePrimaryCtxRetain(self, device):
        return 6

    def _cuStreamCreate(self, flags):
        return _STREAM

    def _cuEventCreate(self, flags):
        return len(self.named("cuEventCreate"))

    def _cuEventElapsedTime(self, start, end):
        return 1500.0

    def _cuModuleLoadDataEx(self, code, count, options, values):
        return _MODULE

    def _cuModuleGetFunction(self, module, name):
        self._names.append(name.decode())
        return len(self._names) - 1

    def _cuMemAlloc(self, size_bytes):
        assert size_bytes > 0, "the driver gives no 0 bytes"
        piece = np.full(size_bytes, 0xCD, np.uint8)
        self.memory[piece.ctypes.data] = piece
        return piece.ctypes.data

    def _cuPointerGetAttribute(self, attribute, address):
        return 0

    def _cuMemFree(self, address):
        del self.memory[address]

    def _cuMemcpyDtoDAsync(self, target, source, size_bytes, stream):
        assert stream == _STREAM
        self.array(target, size_bytes, np.uint8)[:] = self.array(source, size_bytes, np.uint8)

    def _cuMemcpyDtoH(self, host, device, size_bytes):
        ctypes.memmove(host, self.array(device, size_bytes, np.uint8).ctypes.data, size_bytes)

    def _cuMemcpyHtoDAsync(self, device, host, size_bytes, stream):
        assert stream == _STREAM
        self.array(device, size_bytes, np.uint8)[:] = np.frombuffer(ctypes.string_at(host, size_bytes), np.uint8)

    def _cuMemcpyDtoHAsync(self, host, device, size_bytes, stream):
        assert stream == _STREAM
        ctypes.memmove(host, self.array(device, size_bytes, np.uint8).ctypes.data, size_bytes)

    def _cuLaunchKernel(self, kernel, *arguments):
        grid, block, (_, stream, parameters, _) = arguments[:3], arguments[3:6], arguments[6:]
        assert stream == _STREAM
        assert all(size > 0 for size in (*grid, *block)), "the driver refuses an empty grid"
        self._run(kernel, grid, self._parameters(kernel, parameters))

    def _cuLaunchKernelEx(self, config, kernel, parameters, extra):
        (attribute,) = config.attrs
        assert config.numAttrs == 1
        assert attribute.id is self.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size = attribute.value.clusterDim
        grid, block = ([getattr(config, f"{of}Dim{axis}") for axis in "XYZ"] for of in ("grid", "block"))
        assert not any(ctas % count for ctas, count in zip(grid, (size.x, size.y, size.z), strict=True))
        self._cuLaunchKernel(kernel, *grid, *block, config.sharedMemBytes, config.hStream, parameters, extra)

    @staticmethod
    def CUlaunchAttribute():
        return SimpleNamespace(value=FakeDriver.CUkernelNodeAttrValue())

    @staticmethod
    def CUkernelNodeAttrValue():
        return SimpleNamespace(clusterDim=SimpleNamespace())

    def _cuGetProcAddress(self, name, version, flags):
        assert name == b"cuTensorMapEncodeTiled"
        return ctypes.cast(self._encode, ctypes.c_void_p).value

    def cuGetProcAddress(self, *arguments):
        code, *results = self.__getattr__("cuGetProcAddress")(*arguments)
        return (code, *results, 0)

    def _encode_map(self, target, kind, rank, address, dims, strides, box, steps, *modes):
        """Write a tensor map, of which the first word is the address that it is for."""
        assert target % 64 == 0, "the driver ends the process"
        numbers = [np.ctypeslib.as_array(each, (rank,)).tolist() for each in (dims, box, steps)]
        self.encoded.append((kind, address, numbers[0], strides[: rank - 1], numbers[1], modes))
        if address % 16 or numbers[2] != [1] * rank:
            return Result.CUDA_ERROR_INVALID_VALUE
        ctypes.c_uint64.from_address(target).value = address
        return self.failing.get("cuTensorMapEncodeTiled", Result.CUDA_SUCCESS)

    def _parameters(self, kernel, parameters):
        """Return the parameters of a kernel, which the driver reads before the call returns."""
        addresses = (ctypes.c_uint64 * self.kernels[self._names[kernel]][0]).from_address(parameters)
        return [ctypes.c_int64.from_address(address).value for address in addresses]

    def _run(self, kernel, grid, parameters):
        self.kernels[self._names[kernel]][1](self, grid, parameters)

    class CUDA_KERNEL_NODE_PARAMS:  # noqa: N801 - the driver's name
        def grid(self):
            """Return the grid, which is not empty."""
            shape = (self.gridDimX, self.gridDimY, self.gridDimZ, self.blockDimX, self.blockDimY, self.blockDimZ)
            assert all(size > 0 for size in shape)
            return shape[:3]

    def _cuGraphCreate(self, flags):
        self.graphs.append({})
        return f"graph {len(self.graphs) - 1}"

    def _cuGraphAddKernelNode(self, graph, dependencies, count, node):
        nodes = self.graphs[int(graph.split()[1])]
        assert [*dependencies] == [*nodes][-1:], "each waits for the one before"
        assert count == len(dependencies)
        nodes[f"{graph} node {len(nodes)}"] = self._read(node)
        return [*nodes][-1]

    def _read(self, node):
        return node.func, node.grid(), self._parameters(node.func, node.kernelParams)

    def _cuGraphInstantiate(self, graph, flags):
        return graph.replace("graph", "executable")

    def _cuGraphExecKernelNodeSetParams(self, executable, node, parameters):
        self.graphs[int(executable.split()[1])][node] = self._read(parameters)

    def _cuGraphLaunch(self, executable, stream):
        assert stream == _STREAM
        for node in self.graphs[int(executable.split()[1])].values():
            self._run(*node)
