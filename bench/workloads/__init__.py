"""Programs that the benches and the tests share, as Tiny JSON in the spelling of specification 001.

In reading order:

    graph           a program under construction
    layers          what networks are made of, from tensors to tensors
    operators       programs of one layer
    networks        programs of several layers, and ones as long as is asked
    wide            programs of many readers and many outputs, as long as is asked
    random_graphs   programs of products and sums that are drawn
    catalogue       all of them by name, with the most regions that each may have
"""

from .catalogue import WORKLOADS, Workload
from .graph import Program
from .networks import deep, movements
from .operators import chain, gemm
from .random_graphs import random_graph
from .wide import fan_out, fan_out_sums, fan_out_tree, tangled

__all__ = [
    "WORKLOADS",
    "Program",
    "Workload",
    "chain",
    "deep",
    "fan_out",
    "fan_out_sums",
    "fan_out_tree",
    "gemm",
    "movements",
    "random_graph",
    "tangled",
]
