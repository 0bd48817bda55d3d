"""The bytes of a kernel's parameters, from what was given for them.

In: one argument for each parameter: an array (its address is passed), a numpy scalar of exactly the parameter's width,
or `bytes` for an aligned byte array, or a tensor map: the 128 bytes of `tensor_maps.encoding`. Out: the parameter space
of the launch. A map for a parameter that is a pointer (`const CUtensorMap*`) becomes an array of its bytes first.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.errors import InputError
from ptxsim.memory.byte_array import ByteArray
from ptxsim.parsing.syntax import Location, Variable
from ptxsim.tensor_maps.encoding import encode_map
from ptxsim.tensor_maps.tensor_map import TensorMap

_POINTER = "; of an array the kernel gets the address (8 bytes), of a TensorMap (tma:{…}) the 128 bytes of the map"
_POINTER_BYTES = 8
AddressOf = Callable[[np.ndarray], int]


def arguments(parameters: Sequence[Location], size: int, given: Sequence[object], address_of: AddressOf) -> ByteArray:
    """The parameter space: `size` bytes with each argument at its parameter's place.

    Raises:
        InputError: the number of arguments, or an argument's size, is not the declared one.
    """
    if len(parameters) != len(given):
        declared = ", ".join(_declared(location.variable) for location in parameters)
        message = f"the kernel has {len(parameters)} parameters; {len(given)} arguments are given"
        raise InputError(f"{message}; the parameters are {declared or 'none'}")
    memory = ByteArray("param::entry", 0, size)
    for number, (location, argument) in enumerate(zip(parameters, given, strict=True)):
        variable = location.variable
        contents = _bytes(number, variable, argument, address_of)
        if len(contents) != variable.size:
            what = (
                f"{len(contents)} bytes are given for parameter {number} '{variable.name}', which has {variable.size}"
            )
            is_pointer = isinstance(argument, np.ndarray)
            raise InputError(what + (_POINTER if is_pointer else ""))
        end = location.offset + variable.size
        memory.data[location.offset : end] = np.frombuffer(contents, np.uint8)
        memory.allocate(location.offset, variable.size, initialized=True)
    return memory


def maps_in_memory(
    parameters: Sequence[Location], given: Sequence[object], address_of: AddressOf
) -> dict[int, np.ndarray]:
    """The bytes, read-only, of each tensor map whose parameter is a pointer to one, by the number of the argument.

    A map that is given for several parameters lies in one place.
    """
    contents: dict[int, np.ndarray] = {}
    found: dict[int, np.ndarray] = {}
    for number, (location, argument) in enumerate(zip(parameters, given, strict=False)):
        if isinstance(argument, TensorMap) and location.variable.size == _POINTER_BYTES:
            if id(argument) not in contents:
                contents[id(argument)] = np.frombuffer(_encoded(argument, address_of), np.uint8)
            found[number] = contents[id(argument)]
    return found


def _encoded(tensor: TensorMap, address_of: AddressOf) -> bytes:
    array = tensor.global_address
    return encode_map(tensor, address_of(array), array.nbytes)


def _check_kind(number: int, variable: Variable, argument: np.generic) -> None:
    """Check that a number is an integer or a float as its parameter is, where that has either type."""
    wanted = {"u": "an integer", "s": "an integer", "f": "a float"}.get(variable.type[0])
    kind = "an integer" if argument.dtype.kind in "iub" else "a float"
    if wanted not in (None, kind) and not variable.shape:
        name = argument.dtype.name
        message = f"parameter {number} '{variable.name}' is {wanted} (.{variable.type}); {kind}, {name}, is given"
        raise InputError(message)


def _declared(variable: Variable) -> str:
    extents = "".join(f"[{extent}]" for extent in variable.shape)
    return f".{variable.type} {variable.name}{extents}"


def _bytes(number: int, variable: Variable, argument: object, address_of: AddressOf) -> bytes:
    if isinstance(argument, np.generic):
        _check_kind(number, variable, argument)
        return argument.tobytes()
    if isinstance(argument, np.ndarray):
        if argument.dtype.hasobject or argument.dtype != argument.dtype.newbyteorder("<"):
            what = f"the array for parameter {number} '{variable.name}' holds {argument.dtype.str}"
            raise InputError(f"{what}; a GPU reads numbers in little-endian order")
        return np.uint64(address_of(argument)).tobytes()
    if isinstance(argument, bytes | bytearray | memoryview):
        return bytes(argument)
    if isinstance(argument, TensorMap):
        return _encoded(argument, address_of)
    kind = type(argument).__name__
    raise InputError(
        f"'{kind}' is no argument for parameter {number} '{variable.name}'; give an array, a numpy scalar of its width "
        f"({variable.size} bytes) such as np.int32(1024), bytes, or a TensorMap",
    )
