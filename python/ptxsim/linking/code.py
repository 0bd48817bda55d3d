"""Flat code: what the linker makes of a module, and what the engine runs.

The instructions of a kernel and of every function that it can reach stand in one list, each function's in a row, so
that a program counter is an index into `Code.instructions`. No operand is a `Register` or `Symbol` any more: registers
are `Slot`s, labels `BranchTarget`s, variables `Location`s, functions `FunctionAddress`es. Registers, local variables
and parameters of a function have one fixed place each, whoever calls it; a function that can be called again before it
has returned (`Routine.recursive`) needs its places saved.
"""

from dataclasses import dataclass

from ptxsim.parsing.syntax import (
    Function,
    FunctionAddress,
    Instruction,
    Location,
    ModuleTree,
    Slot,
)


@dataclass(frozen=True, slots=True)
class Routine:
    """A function in the code: instructions `start` to `end` (exclusive), both -1 for one without a body.

    `parameters` and `returns` are, in order, the place of each: a `Slot` (or one for each lane of a vector), or a
    `Location` in "param::func" ("param::entry" for the kernel). The ranges are the function's own places among the
    kernel's: `slots` of registers, `local` and `param` in bytes of local memory and of the parameters of calls.
    """

    function: Function
    address: int
    start: int
    end: int
    parameters: tuple[tuple[Slot, ...] | Location, ...]
    returns: tuple[tuple[Slot, ...] | Location, ...]
    slots: range
    local: range
    param: range
    recursive: bool


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel that can run: `instructions`, and what a CTA and a thread need of each space.

    `slots` are all registers, numbered by their index. `shared_bytes` is what static shared variables take; external
    shared arrays start behind it, at `dynamic_offset`. `parameter_bytes` is the size of the kernel's arguments,
    `param_bytes` and `local_bytes` what a thread needs for parameters of calls and for local variables.
    """

    kernel: Routine
    routines: dict[str, Routine]
    instructions: tuple[Instruction, ...]
    slots: tuple[Slot, ...]
    shared_bytes: int
    dynamic_offset: int
    parameter_bytes: int
    param_bytes: int
    local_bytes: int
    shared_variables: tuple[Location, ...]
    local_variables: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """`size` bytes at `offset` of a segment that hold an address, from its bit `shift` on: `target` plus `addend`.

    The address is that in the target's own space, or the generic one where `generic` says so.
    """

    offset: int
    size: int
    target: Location | FunctionAddress
    addend: int
    generic: bool
    shift: int


@dataclass(frozen=True, slots=True)
class Segment:
    """The variables of the module in one space ("global" or "const"): `size` bytes, which start as `initial`.

    `variables` says where each is. Those without an initial value start as zeros (PTX ISA §5.4.4). `patches` are the
    addresses among the bytes, to be put in when the spaces have theirs.
    """

    space: str
    size: int
    alignment: int
    initial: bytes
    variables: tuple[Location, ...]
    patches: tuple[Patch, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A linked module: the code of each kernel, and the memory that they share."""

    module: ModuleTree
    kernels: dict[str, Code]
    global_memory: Segment
    constant_memory: Segment
