"""What is ranked: launches of kernels that do the same work, each with shorter launches that tell what a step takes.

In: PTX, shapes, arguments. Out: `Candidate`: data, but for the function that makes shorter launches.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.errors import InputError


@dataclass(frozen=True)
class Candidate:
    """A kernel for the launch, by the name that the ranking calls it.

    `shorter(n)` is the launch of the same grid with `n` steps of its loop (of a product: a smaller K), `launch` has
    `steps` of them. Without `shorter` the launch is predicted as it is.
    """

    name: str
    launch: KernelLaunch
    shorter: Callable[[int], KernelLaunch] | None = None
    steps: int = 0

    def launches(self, few: tuple[int, int]) -> dict[int, KernelLaunch]:
        """The launches to be predicted, by their steps: those of two small numbers of steps, or only the whole one.

        Raises:
            InputError: `steps` is no number of steps, or a shorter launch has another shape.
        """
        if self.shorter is None:
            return {self.steps: self.launch}
        if self.steps < 1:
            raise InputError(f"'{self.name}' has shorter launches, and steps is {self.steps}; give those of its launch")
        if self.steps <= few[1]:
            return {self.steps: self.launch}
        made = {steps: self.shorter(steps) for steps in few}
        for steps, launch in made.items():
            shapes = [(each.grid, each.block, each.cluster) for each in (launch, self.launch)]
            if shapes[0] != shapes[1]:
                raise InputError(
                    f"the launch of {steps} steps of '{self.name}' has grid, block and cluster {shapes[0]}, the whole "
                    f"one {shapes[1]}; give launches of the same shape"
                )
        return made
