"""A simulator of PTX from any compiler: runs kernels on the CPU, and finds what would go wrong on a GPU.

In: PTX text (8.x and 9.x, sm_80 and sm_90a) and numpy arrays. Out: the arrays as the kernel leaves them, and a report.
Written from the PTX ISA; needs numpy and ml_dtypes.

    module = ptxsim.load(ptx_text)
    report = module.launch("kernel", grid=(2, 1, 1), block=(128, 1, 1), args=[x, y, np.int32(1024)])
    estimate = module.time("kernel", grid=(2, 1, 1), block=(128, 1, 1), args=[x, y, np.int32(1024)], device="h100")

The folders, in the order in which a kernel goes through them:

    parsing/       text → the tree of a module as it is written
    linking/       the tree → flat code: a program counter is an index, names are places
    semantics/     what instructions that only compute do to bits
    memory/, tensor_maps/      bytes with a shadow, arguments; where a tensor lies, and boxes of it
    machine/       the state of a launch, and what one instruction is compiled against
    definedness/   values that nobody has written
    instructions/  what threads do at once, alone or with others of their CTA or cluster
    mbarrier/, copies/, matrix/, wgmma/   one mechanism each: its pure rules, and how they meet threads and memory
    engine/        code → closures, and the loop that runs them; its docstring is the life of an instruction
    races/         the race detector, which watches
    clock/         how long a launch would take on a GPU
    command/       `ptxsim` on the command line

`kernels`, `loaded_module`, `module` and `launch` put them together; `report` and `counters` are what comes out. What is
named here is imported when it is first asked for: who wants one part, such as `clock.devices`, does not load all.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxsim.clock.estimate import Estimate
    from ptxsim.counters import Counters
    from ptxsim.errors import FileError, InputError, MemoryShortage, MetadataError, PtxError, PtxsimError, TextError
    from ptxsim.loaded_module import CHECKS
    from ptxsim.module import Module, load
    from ptxsim.report import Counterpart, Finding, Report, Thread
    from ptxsim.tensor_maps.tensor_map import TensorMap
    from ptxsim.variables import ModuleVariable

__all__ = [
    "CHECKS",
    "Counterpart",
    "Counters",
    "Estimate",
    "FileError",
    "Finding",
    "InputError",
    "MemoryShortage",
    "MetadataError",
    "Module",
    "ModuleVariable",
    "PtxError",
    "PtxsimError",
    "Report",
    "TensorMap",
    "TextError",
    "Thread",
    "load",
]

#: Name → the module that has it.
_HOMES = {
    "CHECKS": "ptxsim.loaded_module",
    "Counters": "ptxsim.counters",
    "Estimate": "ptxsim.clock.estimate",
    **dict.fromkeys(("Module", "load"), "ptxsim.module"),
    "ModuleVariable": "ptxsim.variables",
    **dict.fromkeys(("Counterpart", "Finding", "Report", "Thread"), "ptxsim.report"),
    "TensorMap": "ptxsim.tensor_maps.tensor_map",
    **dict.fromkeys(
        ("FileError", "InputError", "MemoryShortage", "MetadataError", "PtxError", "PtxsimError", "TextError"),
        "ptxsim.errors",
    ),
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ptxsim' has no attribute {name!r}")
