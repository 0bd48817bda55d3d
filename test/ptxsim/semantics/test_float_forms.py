"""Which floating-point instructions are known: each is one that ptxas takes."""

import itertools

from ptxsim.semantics import UnknownInstruction, approximate, float_compare, float_sign, floating, operation

_HALVES = ("f16", "bf16", "f16x2", "bf16x2")
_TYPES = ("f64", "f32", *_HALVES)
_NUMBERS = ("f64", "f32", "f16", "bf16", *(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64)))
_ROUNDINGS = ("", "rn", "rz", "rm", "rp")
_REGISTERS = {"pred": "%p", "8": "%h", "16": "%h", "32": "%r", "64": "%d"}


def register(type_name, index):
    packed_bytes = type_name in ("e4m3x2", "e5m2x2")
    bits = "16" if packed_bytes else "32" if type_name.endswith("x2") else type_name.lstrip("abfsu")
    return f"{_REGISTERS.get(type_name) or _REGISTERS[bits]}{index}"


def tries():
    """Instructions of the ISA's words in its order, most of which do not exist."""
    arithmetic = itertools.product(
        sorted({**floating.BUILDERS, **approximate.BUILDERS}), ("", "approx", "full"), _ROUNDINGS, ("", "ftz"),
        ("", "sat", "relu"), _TYPES,
    )  # fmt: skip
    signs = itertools.product(sorted(float_sign.BUILDERS), ("", "ftz"), ("", "NaN"), ("", "xorsign.abs", "abs"), _TYPES)
    classes = itertools.product(("testp",), ("finite", "normal", "notanumber"), _TYPES)
    compares = itertools.product(("setp",), ("ne", "geu", "nan"), ("", "xor"), ("", "ftz"), _TYPES)
    sets = itertools.product(("set",), ("lt",), ("", "or"), ("", "ftz"), (*_HALVES, "f32", "u32", "s16"), _TYPES)
    conversions = itertools.product(
        ("cvt",), (*_ROUNDINGS, "rni", "rzi", "rna"), ("", "ftz"), ("", "sat"), _NUMBERS, _NUMBERS
    )
    limited = itertools.product(
        ("cvt",), ("rn", "rz", "rna"), ("", "relu"), ("", "satfinite"),
        ("f16", "bf16", "tf32", "f16x2", "bf16x2", "e4m3x2", "e5m2x2"), ("f32", "f16x2", "e4m3x2", "e5m2x2"),
    )  # fmt: skip
    assert set(float_compare.BUILDERS) == {"set", "setp"}
    for words in itertools.chain(arithmetic, signs, classes, compares, sets, conversions, limited):
        yield ".".join(word for word in words if word)


def needs_newer(text):
    """Whether an instruction exists, but not for sm_90; or takes registers that the test does not declare."""
    return (text.endswith("tf32.f32") and "satfinite" in text and "rna" not in text) or text.endswith(
        ("8.bf16", "16.u8", "16.s8")
    )


def test_ptxas_takes_every_known_form(ptxas):
    lines = []
    for text in dict.fromkeys(tries()):
        opcode, *modifiers = text.split(".")
        try:
            op = operation(opcode, tuple(modifiers))
        except UnknownInstruction:
            continue
        if not needs_newer(text):
            names = [register(kind, index) for index, kind in enumerate(op.results[:1] + op.operands)]
            lines.append(f"{text} {', '.join(names)};")
    assert len(lines) > 500
    registers = ".reg .pred %p<6>; .reg .b16 %h<6>; .reg .b32 %r<6>; .reg .b64 %d<6>;"
    ptxas(
        f".version 8.7\n.target sm_90\n.address_size 64\n.entry k() {{ {registers}\n" + "\n".join(lines) + "\nret; }",
        "sm_90",
    )
