"""A program at the sizes of a run, on a GPU: what all runs at these sizes have in common.

In: the sizes, an open device, and the kernels there. Out: launches, by a graph from the second run on.
"""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.cuda_driver import Device, DriverError
from tinyc.runtime.cuda_graph import DeviceLaunch, LaunchGraph
from tinyc.runtime.cuda_memory import SizedMemory
from tinyc.runtime.cuda_tensor_map import TensorMapEncoder
from tinyc.runtime.status import fresh_status

#: Told that a launch is done, and how many seconds it took.
Watch = Callable[[BoundLaunch, float], None]

_REMEDIES = {
    "x": "use smaller inputs, or larger tiles in the plan",
    "y": 'bind the longer axis to block.x in the plan, which takes more ("bind": {"m.o": "block.x", "n.o": '
    '"block.y"}), use larger tiles, or smaller inputs',
    "z": "use smaller batches",
}


class DeviceFrame:
    """Memory, launches and their graph; a run writes its own addresses into them.

    Raises:
        TinycError: `LaunchTooLarge`.
    """

    def __init__(self, device: Device, bound: BoundProgram, kernels: Mapping[str, Any]) -> None:
        _check_grids(device, bound)
        self._device, self._bound = device, bound
        self.memory = SizedMemory(device, bound)
        self.status, self.clean_status = fresh_status(bound.program), fresh_status(bound.program)
        encoder = TensorMapEncoder(device.driver) if any(each.tensor_maps for each in bound.launches) else None
        every = [
            DeviceLaunch(launch, kernels[launch.kernel.symbol], encoder)
            for launch in bound.launches
            if all(launch.grid)  # the driver refuses an empty grid, which has nothing to do
        ]
        self._launches = [each for each in every if not each.bound.kernel.prepare]
        self._prepares = [each for each in every if each.bound.kernel.prepare]
        for launch in every:
            device.allow_shared(launch.function, launch.bound.kernel.symbol, launch.bound.dynamic_shared_bytes)
        self._graph: LaunchGraph | None = None
        self._has_run = self._has_tried = False
        self._outdated: dict[DeviceLaunch, None] = {}  # those whose parameters in the graph are not a run's any more

    def prepare(self, places: Mapping[str, int]) -> None:
        """Launch the kernels that prepare what is kept from run to run, whose buffers are at `places`."""
        for launch in self._prepares:
            launch.set(places, launch.bound.extents)
            self._launch(launch)

    def launch(self, places: Mapping[str, int], run_key: int, watch: Watch | None) -> None:
        """Launch all kernels of a run, whose buffers are at `places`; who watches is told of each when it is done."""
        for launch in self._launches:
            if launch.set(places, launch.bound.extents_with(run_key, self._bound.values)):
                self._outdated[launch] = None
        if self._has_run and not self._has_tried and watch is None:
            self._make_graph()
        if self._graph is not None and watch is None:
            self._graph.replay(tuple(self._outdated))
            self._outdated.clear()
        else:
            for launch in self._launches:
                if watch is None:
                    self._launch(launch)
                else:
                    with self._device.timed(1):
                        self._launch(launch)
                    watch(launch.bound, self._device.finish(1))
        self._has_run = True

    def _make_graph(self) -> None:
        """Make the graph of the launches as they are; where the driver makes none, they go on one by one."""
        self._has_tried = True
        if self._launches:
            with contextlib.suppress(DriverError):
                self._graph = LaunchGraph(self._device, self._launches)
                self._outdated.clear()

    def _launch(self, launch: DeviceLaunch) -> None:
        self._device.launch(launch.function, launch.bound, launch.parameters)

    def close(self) -> None:
        """Give back what it has on the device."""
        if self._graph is not None:
            self._graph.close()
        self._graph = None
        self.memory.close()


def _check_grids(device: Device, bound: BoundProgram) -> None:
    """Check that the device takes the grids.

    Raises:
        TinycError: `LaunchTooLarge`.
    """
    for launch in bound.launches:
        for axis, ctas, limit in zip("xyz", launch.grid, device.grid_limits, strict=True):
            if ctas > limit:
                raise TinycError(
                    "LaunchTooLarge",
                    f"kernel '{launch.kernel.symbol}' needs a grid of {ctas} CTAs along {axis}, and {device.name} "
                    f"takes {limit}; {_REMEDIES[axis]}",
                    launch.kernel.where,
                )
