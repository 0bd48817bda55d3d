"""The element-wise reductions of `cp.reduce.async.bulk` and `cp.reduce.async.bulk.tensor`.

In: the operator, the element type and the destination's space, as the instruction (or the tensor map) says them. Out: a
function of bit patterns, from old and given to new values. Each element is reduced atomically; in which order the
elements of several copies meet is the engine's business.

Source: PTX ISA 9.1 §9.7.9.25.4.2 (cp.reduce.async.bulk), §9.7.9.27.1.3 (cp.reduce.async.bulk.tensor).
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxsim.semantics import operation

#: From the destination's bit patterns and the source's to the result's, all unsigned and of one shape.
Reduction: TypeAlias = Callable[[NDArray, NDArray], NDArray]

_INTEGERS = frozenset({"u32", "s32", "u64"})
_ORDERED = frozenset({"u32", "s32", "u64", "s64", "f16", "bf16"})
_COUNTERS = dict.fromkeys(("inc", "dec"), frozenset({"u32"}))
#: Destination → operator → the element types that it takes.
REDUCED_TYPES = {
    "shared::cluster": {
        "add": _INTEGERS,
        **dict.fromkeys(("min", "max"), frozenset({"u32", "s32"})),
        **_COUNTERS,
        **dict.fromkeys(("and", "or", "xor"), frozenset({"b32"})),
    },
    "global": {
        "add": _INTEGERS | {"f32", "f64", "f16", "bf16"},
        **dict.fromkeys(("min", "max"), _ORDERED),
        **_COUNTERS,
        **dict.fromkeys(("and", "or", "xor"), frozenset({"b32", "b64"})),
    },
    "tensor": {
        "add": _INTEGERS | {"f32", "f16", "bf16"},
        **dict.fromkeys(("min", "max"), _ORDERED),
        **_COUNTERS,
        **dict.fromkeys(("and", "or", "xor"), frozenset({"b32", "b64"})),
    },
}


def reduction_of(operator: str, element_type: str, destination: str) -> Reduction | None:
    """The function of a reduction, None where the ISA has none of that operator and type.

    `destination` is a key of `REDUCED_TYPES`: "global" and "shared::cluster" for ranges, "tensor" for tensor maps,
    whose integers stand for the bit-size types that they have none of.
    """
    if destination == "tensor" and operator in ("and", "or", "xor") and element_type[0] in "us":
        element_type = f"b{element_type[1:]}"
    if element_type not in REDUCED_TYPES[destination].get(operator, ()):
        return None
    if operator == "inc":
        return _incremented
    if operator == "dec":
        return _decremented
    # Addition of f32 flushes subnormals; f16 and bf16 keep them.
    modifiers = ("ftz", "f32") if element_type == "f32" else (element_type,)
    arithmetic = operation(operator, modifiers)
    if arithmetic is None:
        raise LookupError(f"{operator}.{element_type} is an instruction that the semantics must have")
    function = arithmetic.function
    return lambda old, given: function(old, given)[0]


def _incremented(old: NDArray, given: NDArray) -> NDArray:
    return np.where(old >= given, np.uint32(0), old + np.uint32(1))


def _decremented(old: NDArray, given: NDArray) -> NDArray:
    return np.where((old == 0) | (old > given), given, old - np.uint32(1))
