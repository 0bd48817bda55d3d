"""PTX's types and state spaces: what they are called and how wide they are.

Types are PTX's words without the dot. Source: PTX ISA §5.2 (types), §5.1 (state spaces).
"""

from functools import cache

#: The bits of a value of each type that a variable, register or parameter may have. A predicate has no size in memory.
TYPE_BITS = {
    "b8": 8,
    "b16": 16,
    "b32": 32,
    "b64": 64,
    "b128": 128,
    "u8": 8,
    "u16": 16,
    "u32": 32,
    "u64": 64,
    "s8": 8,
    "s16": 16,
    "s32": 32,
    "s64": 64,
    "f16": 16,
    "f16x2": 32,
    "bf16": 16,
    "bf16x2": 32,
    "tf32": 32,
    "f32": 32,
    "f64": 64,
    "pred": 1,
}

_KINDS = {"u": "integer", "s": "integer", "f": "float", "p": "predicate"}

#: The spaces of variables, parameters and registers.
STATE_SPACES = frozenset({"reg", "sreg", "const", "global", "local", "param", "shared", "tex"})

#: The opaque types of textures and surfaces, which the simulator does not model.
OPAQUE = frozenset({"texref", "samplerref", "surfref"})


@cache
def agree(register: str, operand: str) -> bool:
    """Whether a register of one type may stand for an operand of another, as far as their kinds go.

    Bits and pairs stand for anything, signed for unsigned integers and back. Source: PTX ISA, "Operand Type Checking".
    """
    kinds = {"bits" if name.endswith("x2") else _KINDS.get(name[0], "bits") for name in (register, operand)}
    return len(kinds) == 1 or "bits" in kinds


def size_bytes(type_name: str) -> int:
    """The bytes of a value of the type in memory.

    Raises: KeyError for an unknown type and for "pred", which has no place in memory.
    """
    if type_name == "pred":
        raise KeyError(type_name)
    return TYPE_BITS[type_name] // 8
