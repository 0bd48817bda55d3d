"""What a user has of a PTX module: its kernels are launched, and timed.

In: PTX text. Out: `Module`. The clock is imported when it is asked for the first time.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptxsim.launch import Dim3
from ptxsim.loaded_module import LoadedModule

if TYPE_CHECKING:  # whose imports few users need
    from ptxsim.clock.estimate import Estimate

_NO_CLUSTER = (1, 1, 1)


def load(text: str) -> "Module":
    """The module of a PTX text.

    Raises:
        PtxError: malformed text, or no kernel without an instruction that the simulator does not know; with line and
            column.
        TextError: it is not text.
    """
    return Module.of_text(text).runnable()


class Module(LoadedModule):
    """A module whose kernels can be launched and timed; `.global` variables start anew with each launch."""

    def time(
        self,
        kernel: str,
        grid: Dim3,
        block: Dim3,
        args: Sequence[object],
        device: str = "h100",
        dynamic_shared_bytes: int = 0,
        cluster: Dim3 = _NO_CLUSTER,
    ) -> "Estimate":
        """The time that a launch would take on a device: "a100", "h100", "h200" or "a6000".

        Some clusters of it are run on the simulator, without its checks, so that array arguments change as by `launch`,
        in part. It is made of what ptxas and nvdisasm say, or less certain of the weights of classes of instructions
        where one of them is missing. Without `cluster` the kernel's own directive holds.

        Raises:
            InputError: there is no such kernel or device, the launch does not fit, its clusters wait for each other, it
                is not found in its SASS; or TINYC_CLOCK_CODE asks for SASS, and ptxas or nvdisasm is missing.
            PtxError: the kernel is refused, by the simulator or by ptxas.
            FileError: ptxas or nvdisasm cannot be run.
        """
        from ptxsim.clock.kernel_launch import KernelLaunch
        from ptxsim.clock.timing import estimate_launch

        shape = self.required_cluster(kernel) if cluster == _NO_CLUSTER else cluster
        launch = KernelLaunch(self.text, kernel, grid, block, args, dynamic_shared_bytes, shape)
        return estimate_launch(launch, device, module=self)
