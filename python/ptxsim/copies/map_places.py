"""Which tensor map an address names: 128 bytes of a memory in which the operation takes one, and the tensor in them.

In: an address, generic or of a space. Out: a `Range` that is allocated, or the tensor that it says. `Misuse` else.
Source: PTX ISA 9.1 §5.5.8 (Tensormap), §9.7.9.27.1 (Tensor copies), §9.7.9.28 (tensormap.replace), §9.7.13.5 (fence).
"""

from typing import Literal, TypeAlias

from ptxsim.copies.endpoints import Range, shared_place
from ptxsim.errors import InputError
from ptxsim.machine.cta import Cta
from ptxsim.machine.misuse import Misuse, require_aligned
from ptxsim.memory.windows import BASES, SPACE_OF_WINDOW, WINDOW_BITS
from ptxsim.tensor_maps.encoding import MAP_BYTES, PlacedTensor, decode_map

MapUse: TypeAlias = Literal["used", "replaced", "acquired"]

_ALIGNMENT = 64
#: What is done with a map → the spaces in which it is then.
_SPACES: dict[MapUse, tuple[str, ...]] = {
    "used": ("param::entry", "const", "global"),
    "replaced": ("shared", "global"),
    "acquired": ("global",),
}


def map_at(cta: Cta, where: int) -> tuple[PlacedTensor, Range]:
    """The tensor map at a generic address, and its bytes.

    Raises: Misuse where the address is misaligned or names no memory of maps, and where no map is there.
    """
    place = map_place(cta, "generic", where, "used")
    try:
        tensor = decode_map(place.read().tobytes())
    except InputError as error:
        raise Misuse("out-of-bounds", error.message) from error
    if tensor is None:
        raise no_map(place)
    return tensor, place


def map_place(cta: Cta, space: str, where: int, use: MapUse) -> Range:
    """The bytes of the map at an address of a space, or a generic one.

    Raises: Misuse where it is misaligned, in a space that the use of the map does not take, or not allocated.
    """
    require_aligned("tensor map", where, _ALIGNMENT)
    if space == "generic":
        space = SPACE_OF_WINDOW.get(where >> WINDOW_BITS, "global")
        where -= BASES[space]
    if space not in _SPACES[use]:
        message = f"a tensor map is {use} in {' or '.join(_SPACES[use])} memory, not in {space}"
        raise Misuse("out-of-bounds", message)
    if space == "shared":
        owner, index = shared_place(cta, where, "shared::cta")
        place = Range(owner.shared, index, MAP_BYTES, owner=owner)
    else:
        launch = cta.launch
        memory = {"param::entry": launch.arguments, "const": launch.constants, "global": launch.memory}[space]
        place = Range(memory, where - memory.base, MAP_BYTES)
    place.require_allocated("tensor map")
    return place


def no_map(place: Range) -> Misuse:
    """What is wrong where the bytes are no map."""
    where = f"{place.memory.space} memory at {place.index + place.memory.base:#x}"
    return Misuse("uninitialized", f"the {MAP_BYTES} bytes of {where} are no tensor map")
