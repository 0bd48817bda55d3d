"""The launches of a run on a GPU, and all of them as one CUDA graph, which the driver launches at once.

The graph is built node by node, and not by capturing a stream: that gives the handle of each node, whose parameters are
written anew where a run has other arrays of the user's. They are read and filled where they are, without a copy to
buffers at fixed addresses, which would take longer than small kernels do.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinyc.runtime.bound import BoundLaunch
from tinyc.runtime.cuda_driver import Device
from tinyc.runtime.cuda_tensor_map import TensorMapEncoder, tensor_map_store
from tinyc.runtime.program import STATUS_BYTES, Pointer, Status, TensorMapParameter

#: Where the status slots are among the places of the buffers.
STATUS = "status"


class DeviceLaunch:
    """A kernel's launch with its parameters, in memory that the driver reads: 64 bits each, and 128 bytes a tensor map.

    `encoder` is there where a launch of the program has tensor maps.
    """

    def __init__(self, bound: BoundLaunch, function: Any, encoder: TensorMapEncoder | None) -> None:
        self.bound, self.function, self._encoder = bound, function, encoder
        parameters = bound.kernel.parameters
        #: The parameters; for a tensor map the address that it has been encoded for.
        self._values = np.zeros(len(parameters), np.uint64)
        self._addresses = self._values.ctypes.data + 8 * np.arange(len(self._values), dtype=np.uint64)
        self._maps = tensor_map_store(len(bound.tensor_maps))
        at = [position for position, each in enumerate(parameters) if isinstance(each, TensorMapParameter)]
        for position, store in zip(at, self._maps, strict=True):
            self._addresses[position] = store.ctypes.data
        self.parameters: int = self._addresses.ctypes.data

    def set(self, places: Mapping[str, int], extents: Sequence[int]) -> bool:
        """Write the parameters of a run; whether they are others than before.

        Raises:
            TinycError: `DeviceFailure`: the driver takes no tensor map of a buffer.
        """
        values, before = iter(extents), self._values.tolist()
        maps = iter(range(len(self._maps)))
        for position, parameter in enumerate(self.bound.kernel.parameters):
            if isinstance(parameter, Pointer):
                value = places[parameter.buffer]
            elif isinstance(parameter, Status):
                value = places[STATUS] + parameter.slot * STATUS_BYTES
            elif isinstance(parameter, TensorMapParameter):
                value, number = places[parameter.buffer], next(maps)
                if value != before[position]:
                    self._encode(number, parameter, value)
            else:
                value = next(values)
            self._values[position] = value % 2**64
        return self._values.tolist() != before

    def _encode(self, number: int, parameter: TensorMapParameter, address: int) -> None:
        """Write a tensor map; of a tensor without elements it stays zeros."""
        tensor_map = self.bound.tensor_maps[number]
        if not tensor_map.is_empty:
            assert self._encoder is not None
            self._encoder.encode(self._maps[number], self.bound.kernel, parameter, tensor_map, address)


class LaunchGraph:
    """Launches, one after the other, as a graph of the driver's.

    Raises:
        DriverError: the driver makes no graph of them.
    """

    def __init__(self, device: Device, launches: Sequence[DeviceLaunch]) -> None:
        self._device, call = device, device.driver.call
        graph = call("cuGraphCreate", 0)
        self._owned = [("cuGraphDestroy", device.own("cuGraphDestroy", graph))]
        self._nodes: dict[DeviceLaunch, Any] = {}
        try:
            node: list[Any] = []
            for launch in launches:
                node = [call("cuGraphAddKernelNode", graph, node, len(node), self._parameters(launch))]
                self._nodes[launch] = node[0]
                if launch.bound.has_clusters:
                    call("cuGraphKernelNodeSetAttribute", node[0], *self._cluster(launch.bound))
            self._executable = call("cuGraphInstantiate", graph, 0)
            self._owned.append(("cuGraphExecDestroy", device.own("cuGraphExecDestroy", self._executable)))
        except BaseException:
            self.close()
            raise

    def _parameters(self, launch: DeviceLaunch) -> Any:
        parameters, bound = self._device.driver.binding.CUDA_KERNEL_NODE_PARAMS(), launch.bound
        parameters.func = launch.function
        parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ = bound.grid
        parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ = bound.block
        parameters.sharedMemBytes = bound.dynamic_shared_bytes
        parameters.kernelParams = launch.parameters  # copied in the call that takes them
        return parameters

    def _cluster(self, bound: BoundLaunch) -> tuple[Any, Any]:
        """The attribute of a node that says the size of clusters, and its value."""
        binding = self._device.driver.binding
        value = binding.CUkernelNodeAttrValue()
        size = value.clusterDim
        size.x, size.y, size.z = bound.cluster
        return binding.CUkernelNodeAttrID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value

    def replay(self, changed: Sequence[DeviceLaunch]) -> None:
        """Launch all; the parameters of those that are `changed` are written anew."""
        call = self._device.driver.call
        for launch in changed:
            call("cuGraphExecKernelNodeSetParams", self._executable, self._nodes[launch], self._parameters(launch))
        call("cuGraphLaunch", self._executable, self._device.stream)

    def close(self) -> None:
        """Give it back to the driver."""
        for destroy, handle in reversed(self._owned):
            self._device.disown(destroy, handle)
