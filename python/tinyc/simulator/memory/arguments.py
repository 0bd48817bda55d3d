"""The bytes of a kernel's parameters, from what was given for them.

In: one argument for each parameter: an array (its address is passed), a numpy scalar of exactly the parameter's width,
or `bytes` for an aligned byte array, or a tensor map. Out: the parameter space of the launch. The 128 bytes of a tensor
map are opaque to kernels; here they say which argument it is.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.simulator.asynchronous.tensor_map import TensorMap
from tinyc.simulator.memory.byte_array import ByteArray
from tinyc.simulator.syntax import Location, Variable

MAP_BYTES = 128
_MAP_MARK = b"tinyCmap"
AddressOf = Callable[[np.ndarray], int]


def arguments(parameters: Sequence[Location], size: int, given: Sequence[object], address_of: AddressOf) -> ByteArray:
    """Return the parameter space: `size` bytes with each argument at its parameter's place.

    Raises:
        TinycError: `InputMismatch`: the number of arguments, or an argument's size, is not the declared one.
    """
    if len(parameters) != len(given):
        declared = ", ".join(_declared(location.variable) for location in parameters)
        message = f"the kernel has {len(parameters)} parameters; {len(given)} arguments are given"
        raise TinycError("InputMismatch", f"{message}; the parameters are {declared or 'none'}")
    memory = ByteArray("param::entry", 0, size)
    for number, (location, argument) in enumerate(zip(parameters, given, strict=True)):
        variable = location.variable
        contents = _bytes(number, variable, argument, address_of)
        if len(contents) != variable.size:
            what = f"{len(contents)} bytes are given for parameter {number} '{variable.name}'"
            raise TinycError("InputMismatch", f"{what}, which has {variable.size}")
        end = location.offset + variable.size
        memory.data[location.offset : end] = np.frombuffer(contents, np.uint8)
        memory.allocate(location.offset, variable.size, initialized=True)
    return memory


def map_number(contents: bytes) -> int | None:
    """Return which argument the 128 bytes of a tensor map are of, None for bytes that are no tensor map."""
    return int.from_bytes(contents[8:16], "little") if contents[:8] == _MAP_MARK else None


def _declared(variable: Variable) -> str:
    extents = "".join(f"[{extent}]" for extent in variable.shape)
    return f".{variable.type} {variable.name}{extents}"


def _map_bytes(number: int, address: int) -> bytes:
    return (_MAP_MARK + number.to_bytes(8, "little") + address.to_bytes(8, "little")).ljust(MAP_BYTES, b"\0")


def _bytes(number: int, variable: Variable, argument: object, address_of: AddressOf) -> bytes:
    if isinstance(argument, np.generic):
        return argument.tobytes()
    if isinstance(argument, np.ndarray):
        return np.uint64(address_of(argument)).tobytes()
    if isinstance(argument, bytes | bytearray | memoryview):
        return bytes(argument)
    if isinstance(argument, TensorMap):
        return _map_bytes(number, address_of(argument.global_address))
    kind = type(argument).__name__
    raise TinycError(
        "InputMismatch",
        f"a {kind} is given for parameter {number} '{variable.name}'; give an array, a numpy scalar of its width "
        f"({variable.size} bytes) such as np.int32(1024), bytes, or a TensorMap",
    )
