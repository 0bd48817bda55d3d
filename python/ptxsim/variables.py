"""The `.global` and `.const` variables of a module, CUDA's `__device__` and `__constant__`: what they hold.

In: a linked program, and what a user writes. Out: the memory that a launch starts with. Every launch starts with the
initial values and with what was written, not with what the launch before it left; `read` gives that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from ptxsim.errors import InputError, suggest
from ptxsim.linking.code import Patch, Program, Segment
from ptxsim.machine.address_names import Named
from ptxsim.memory.byte_array import ALLOCATED, ByteArray
from ptxsim.memory.windows import BASES, GLOBAL_START
from ptxsim.parsing.syntax import Location, Variable
from ptxsim.parsing.types import TYPE_BITS

_LETTERS = {"u": "u", "b": "u", "s": "i", "f": "f", "t": "f"}
_KINDS = {"u": ("an integer", "iub"), "s": ("an integer", "iub"), "f": ("a float", "fV")}


@dataclass(frozen=True)
class ModuleVariable:
    """A variable of a module: `declared` is how the PTX declares it; `write` and `read` its bytes."""

    declared: Variable
    contents: Callable[[], bytes]
    change: Callable[[bytes], None]

    def __repr__(self) -> str:
        vector = f".v{self.declared.lanes} " if self.declared.lanes > 1 else ""
        extents = "".join(f"[{extent}]" for extent in self.declared.shape)
        declaration = f".{self.declared.space} {vector}.{self.declared.type} {self.declared.name}{extents}"
        return f"<variable {declaration}, {self.declared.size} bytes>"

    @property
    def dtype(self) -> np.dtype:
        """The type of its elements, bits as unsigned integers."""
        name = self.declared.type
        if name.startswith("bf16"):
            return np.dtype(ml_dtypes.bfloat16)
        if name.startswith("f16"):
            return np.dtype(np.float16)
        size = min(TYPE_BITS[name] // 8, 8)
        return np.dtype(f"{_LETTERS[name[0]]}{size}")

    def write(self, value: np.ndarray | np.generic | bytes) -> None:
        """Let launches start with a value: an array or numpy scalar of the variable's bytes, or the bytes.

        Raises:
            InputError: it has another size, or is of integers where the variable is of floats, or the other way round.
        """
        if isinstance(value, bytes | bytearray | memoryview):
            value = np.frombuffer(bytes(value), "V1")
        if not isinstance(value, np.ndarray | np.generic):
            given = type(value).__name__
            raise InputError(f"variable '{self.declared.name}' takes an array, a numpy scalar or bytes, not {given}")
        self.require(value)
        self.change(np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes())

    def require(self, value: np.ndarray | np.generic) -> None:
        """Check that an array can be what the variable holds: it has its bytes, in any shape.

        Raises:
            InputError: it has another size, or is of integers where the variable is of floats, or the other way round.
        """
        name = self.declared.name
        wanted, kinds = _KINDS.get(self.declared.type[0], ("", value.dtype.kind))
        if value.dtype.hasobject or (value.dtype.kind not in kinds and value.dtype.kind != "V"):
            given = f"{value.dtype.name} is given"
            raise InputError(f"variable '{name}' is {wanted or 'bits'} (.{self.declared.type}); {given}")
        if value.nbytes != self.declared.size:
            raise InputError(f"variable '{name}' has {self.declared.size} bytes; {value.nbytes} are given")

    def read(self, dtype: DTypeLike | None = None) -> np.ndarray:
        """What the variable holds after the last launch: in its own type and shape, or as a row of another type.

        Raises:
            InputError: the bytes are no whole elements of the type.
        """
        if dtype is None:
            found = np.frombuffer(self.contents(), self.dtype)
            lanes = (self.declared.lanes,) if self.declared.lanes > 1 else ()
            shape = (*self.declared.shape, *lanes)
            return found.reshape(shape if int(np.prod(shape)) == found.size else found.shape).copy()
        wanted = np.dtype(dtype)
        if self.declared.size % wanted.itemsize:
            message = (
                f"variable '{self.declared.name}' has {self.declared.size} bytes, which are no row of {wanted.name}"
            )
            raise InputError(message)
        return np.frombuffer(self.contents(), wanted).copy()


class ModuleVariables:
    """All variables of a module in memory that outlives CTAs: where they are, and what was written to them."""

    def __init__(self, program: Program) -> None:
        self._segments = (program.global_memory, program.constant_memory)
        self._places: dict[str, tuple[Segment, Location]] = {}
        for segment in self._segments:
            for location in segment.variables:
                self._places.setdefault(location.variable.name, (segment, location))
        self._written: dict[str, bytes] = {}
        self._held: dict[str, bytes] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables: those in global memory, then those in constant memory."""
        return tuple(self._places)

    def variable(self, name: str) -> ModuleVariable:
        """The variable of a name.

        Raises:
            InputError: there is none.
        """
        if name not in self._places:
            known = suggest(name, self._places)
            raise InputError(f"the module has no variable '{name}' in .global or .const memory{known}")
        segment, location = self._places[name]
        initial = segment.initial[location.offset : location.offset + location.variable.size]

        def change(contents: bytes) -> None:
            self._written[name] = self._held[name] = contents

        return ModuleVariable(
            location.variable, lambda: self._held.get(name, initial.ljust(location.variable.size, b"\0")), change
        )

    def named(self, module_base: int) -> list[Named]:
        """The variables by their addresses."""
        starts = {"global": module_base, "const": 0}
        return [Named.of_variable(each, starts[each.space]) for _, each in self._places.values()]

    def fill(self, memory: ByteArray, module_base: int) -> ByteArray:
        """Set the variables in global memory; return constant memory, filled, too."""
        constants = ByteArray("const", 0, self._segments[1].size)
        constants.allocate(0, self._segments[1].size, initialized=True)
        for segment, into, start in zip(self._segments, (memory, constants), _starts(module_base), strict=True):
            _initialize(segment, into, start, module_base)
            for location in segment.variables:
                variable, first = location.variable, start + location.offset
                if variable.name in self._written:
                    contents = np.frombuffer(self._written[variable.name], np.uint8)
                    into.data[first : first + variable.size] = contents
                elif variable.initial is None:
                    into.state[first : first + variable.size] = ALLOCATED
        return constants

    def keep(self, memory: ByteArray, constants: ByteArray, module_base: int) -> None:
        """Remember what a launch has left in the variables."""
        global_start, const_start = _starts(module_base)
        for name, (segment, location) in self._places.items():
            is_global = segment.space == "global"
            source, start = (memory, global_start) if is_global else (constants, const_start)
            first = start + location.offset
            self._held[name] = source.data[first : first + location.variable.size].tobytes()


def _starts(module_base: int) -> tuple[int, int]:
    """The index of the module's variables in global and in constant memory."""
    return module_base - GLOBAL_START, 0


def _initialize(segment: Segment, memory: ByteArray, start: int, module_base: int) -> None:
    memory.data[start : start + len(segment.initial)] = np.frombuffer(segment.initial, np.uint8)
    for patch in segment.patches:
        contents = (_address(patch, module_base) >> patch.shift).to_bytes(16, "little")[: patch.size]
        place = start + patch.offset
        memory.data[place : place + patch.size] = np.frombuffer(contents, np.uint8)


def _address(patch: Patch, module_base: int) -> int:
    """The number that a variable's initial value holds for a variable or function."""
    target = patch.target
    if not isinstance(target, Location):
        return target.address
    base = module_base if target.space == "global" else BASES[target.space] * patch.generic
    return base + target.offset + patch.addend
