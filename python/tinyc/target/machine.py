"""What the cost of a kernel is computed from: the rates of a machine, whatever it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """How fast a machine is, at most. Operations are multiply-adds counted as two, in f32, of all of it together."""

    bytes_per_second: float
    flops_per_second: float
    #: Of matrix products in the types and on the units that are fastest at them.
    product_flops_per_second: float
    #: What a division, a root or a transcendental function takes, in operations.
    special_function_flops: int
    #: What another operation takes, in operations, where what it reads does not lie side by side in memory.
    scattered_flops: int
    #: From the end of one kernel to the start of the next that needs it.
    launch_seconds: float
    #: Of work that can run at the same time, what fills the machine: threads on a GPU, turns of a loop on a CPU.
    parallel_threads: int
