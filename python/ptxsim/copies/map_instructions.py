"""Tensor maps as operands: which map an address names, and the instructions that only concern maps.

A kernel's parameter holds the bytes of a map, and a kernel may copy them elsewhere. `prefetch.tensormap` changes no
value. Source: PTX ISA 9.1 §5.5.8 (Tensormap), §9.7.9.16 (prefetch).
"""

from ptxsim.copies.endpoints import Range
from ptxsim.instructions import cache_policy
from ptxsim.machine.addresses import address_reader
from ptxsim.machine.cta import Step
from ptxsim.machine.launch import Launch
from ptxsim.machine.misuse import Misuse, require_aligned
from ptxsim.machine.site import Site
from ptxsim.memory.arguments import MAP_BYTES, map_number
from ptxsim.memory.windows import BASES, SPACE_OF_WINDOW, WINDOW_BITS
from ptxsim.tensor_maps.tensor_map import TensorMap

_ALIGNMENT = 64
_PREFETCHES = {
    ("tensormap",): "generic",
    ("param", "tensormap"): "param::entry",
    ("const", "tensormap"): "const",
}


def map_at(launch: Launch, where: int) -> tuple[TensorMap, int]:
    """The tensor map at a generic address, and the address of its tensor.

    Raises: Misuse where the address is misaligned or names no memory of maps, and where no map is there.
    """
    require_aligned("tensor map", where, _ALIGNMENT)
    space = SPACE_OF_WINDOW.get(where >> WINDOW_BITS, "global")
    memory = {"param::entry": launch.arguments, "const": launch.constants, "global": launch.memory}.get(space)
    if memory is None:
        raise Misuse("out-of-bounds", f"a tensor map is in parameters, constant or global memory, not in {space}")
    place = Range(memory, where - BASES[space] - memory.base, MAP_BYTES)
    place.require_allocated("tensor map")
    number = map_number(place.read().tobytes())
    if number is None or number not in launch.tensor_maps:
        raise Misuse("uninitialized", f"the {MAP_BYTES} bytes of {space} memory at {where:#x} are no tensor map")
    return launch.tensor_maps[number]


def prefetch(site: Site) -> Step:
    """`prefetch{.param|.const}.tensormap [a];`, and the other prefetches."""
    words = site.instruction.modifiers
    if "tensormap" not in words:
        return cache_policy.hint(site)
    if words not in _PREFETCHES:
        site.unknown()
    (place,) = site.operands(1)
    address_reader(site, place, _PREFETCHES[words])
    return lambda batch: None


HANDLERS = {"prefetch": prefetch}
