"""What a CPU has: the instruction sets that LLVM may use for a kernel, and those that this machine has.

In: the name of a CPU, a level of x86-64 and what it has more, as in "x86-64-v4+amx". Out: features as LLVM calls them,
to compile for, and flags as Linux calls them, to compare with those of the machine that runs the code. LLVM is told to
use what stands in the table and nothing else, so that code needs what it says that it needs. Of aarch64 there is the
baseline, which has vectors of 16 bytes.
"""

import ctypes
import functools
import itertools
import platform
import re
from collections.abc import Iterable
from pathlib import Path

from tinyc.diagnostics import TinycError, either

#: LLVM's feature → Linux' flag: every instruction set beyond x86-64 that LLVM uses of its own accord in arithmetic.
_FLAGS = {
    "cx16": "cx16",
    "sahf": "lahf_lm",
    "popcnt": "popcnt",
    "sse3": "pni",
    "ssse3": "ssse3",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "xsave": "xsave",
    "avx": "avx",
    "avx2": "avx2",
    "bmi": "bmi1",
    "bmi2": "bmi2",
    "f16c": "f16c",
    "fma": "fma",
    "lzcnt": "abm",
    "movbe": "movbe",
    "avx512f": "avx512f",
    "avx512bw": "avx512bw",
    "avx512cd": "avx512cd",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
    "avx512bf16": "avx512_bf16",
    "avx512bitalg": "avx512_bitalg",
    "avx512fp16": "avx512_fp16",
    "avx512ifma": "avx512ifma",
    "avx512vbmi": "avx512vbmi",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vnni": "avx512_vnni",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avxvnni": "avx_vnni",
    "gfni": "gfni",
    "avxvnniint8": "avx_vnni_int8",
    "amx-tile": "amx_tile",
    "amx-bf16": "amx_bf16",
    "amx-int8": "amx_int8",
}
#: What every x86-64 has, which LLVM lists too.
_BASELINE = ("64bit", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2")
#: The levels of the x86-64 psABI, by how many rows of the table each has.
_LEVELS = {"x86-64": 0, "x86-64-v2": 7, "x86-64-v3": 16, "x86-64-v4": 21}
#: What a level may have more that multiplies neighbours, and which features that is; the richest first.
_VNNI, _BF16 = "avx512vnni", "avx512bf16"
_EXTENSIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "x86-64-v3": {"avxvnniint8": ("avxvnni", "avxvnniint8"), "avxvnni": ("avxvnni",)},
    "x86-64-v4": {"amx": (_VNNI, _BF16, "amx-tile", "amx-bf16", "amx-int8"), _VNNI: (_VNNI,), _BF16: (_BF16,)},
}
#: The features that an intrinsic of LLVM needs, by how its name begins; LLVM ends the process where one is missing.
_INTRINSICS = {
    "llvm.x86.tdpbf16ps": ("amx-tile", "amx-bf16"),
    "llvm.x86.tdpb": ("amx-tile", "amx-int8"),
    "llvm.x86.tile": ("amx-tile",),
    "llvm.x86.avx512bf16.": ("avx512bf16",),
    "llvm.x86.avx2.vpdpb": ("avxvnniint8",),
    "llvm.x86.avx512.vpdpbusd.512": ("avx512vnni",),
    "llvm.x86.avx512.vpdpbusd.256": ("avxvnni",),
}
#: The architectures of CPUs, as saved models call them; the first one's code runs by `object_code`.
X86_64, AARCH64 = "x86-64", "aarch64"
#: What stands for this machine's CPU.
HOST = "host"
_CPUINFO = Path("/proc/cpuinfo")
#: The system call by which a process asks for tile registers, arch_prctl: its number, what is asked, and their number.
TILES_CALL = (158, 0x1023, 18)
#: The flag of a CPU that has any.
TILE_FLAG = "amx_tile"


def checked_cpu(cpu: str | None) -> str | None:
    """A CPU that code can be made for; None is this machine's, "host".

    Raises:
        TinycError: `UnsupportedTarget`: there is no such CPU.
    """
    if cpu in (None, HOST):
        return None
    name = _full_name(cpu)
    level_features(name)
    return name


def architecture_of(cpu: str | None) -> str:
    """The architecture of a CPU that code is made for; of none this machine's."""
    return AARCH64 if cpu == AARCH64 else X86_64


def level_of(cpu: str) -> str:
    """The level of a CPU, as LLVM calls it, without what it has more: "x86-64-v4" of "x86-64-v4+amx"."""
    return cpu.partition("+")[0]


def level_features(cpu: str) -> tuple[str, ...]:
    """The features of "host", or of a level such as "x86-64-v3" or "v4+amx"; beside its baseline, aarch64 has none.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such CPU.
    """
    if cpu == AARCH64:
        return ()
    cpu = _full_name(cpu)
    level, *more = cpu.split("+")
    if level not in _LEVELS:
        known = either(map(repr, (HOST, *_LEVELS, AARCH64)))
        raise TinycError("UnsupportedTarget", f"'cpu' is {cpu!r}; choose {known}; {HOST!r} is this machine's")
    extensions = _EXTENSIONS.get(level, {})
    for each in more:
        if each not in extensions:
            known = either(f"'+{name}'" for name in extensions) if extensions else "nothing"
            message = f"'cpu' is {cpu!r}; {level!r} may have {known} behind it"
            raise TinycError("UnsupportedTarget", message)
    on = {*tuple(_FLAGS)[: _LEVELS[level]], *(feature for each in more for feature in extensions[each])}
    return tuple(feature for feature in _FLAGS if feature in on)


def _full_name(cpu: str) -> str:
    """The name of a CPU with its architecture: "x86-64-v4+amx" of "v4+amx", and of "host" what this machine is."""
    if cpu != HOST:
        return f"x86-64-{cpu}" if cpu.startswith("v") else cpu
    machine = machine_cpu()
    if machine is None:
        known = either(map(repr, (*_LEVELS, AARCH64)))
        raise TinycError("UnsupportedTarget", f"'cpu' is {HOST!r}, and this machine is no x86-64; choose {known}")
    return machine


def intrinsic_features(name: str) -> tuple[str, ...]:
    """The features that an intrinsic of LLVM needs, of those that multiply neighbours."""
    return next((needed for prefix, needed in _INTRINSICS.items() if name.startswith(prefix)), ())


def features_of_code(usable: Iterable[str], of_intrinsics: Iterable[str]) -> tuple[str, ...]:
    """What code needs of the features that it may use: the tiles alone LLVM never uses but for their intrinsics."""
    needed = {*of_intrinsics}
    return tuple(feature for feature in usable if feature in needed or not _is_of_tiles(feature))


def usable_features(found: Iterable[str]) -> tuple[str, ...]:
    """Those of the features that this machine's CPU has which code may use: tiles where the system lets it."""
    present, has_tiles = set(found), _has_tiles(_listed_flags())
    return tuple(each for each in _FLAGS if each in present and (has_tiles or not _is_of_tiles(each)))


def feature_switches(used: Iterable[str], known: Iterable[str]) -> str:
    """What LLVM is told: of all features that it knows, those on that are used, and all others off."""
    on = {*used, *_BASELINE}
    return ",".join(f"{'+' if feature in on else '-'}{feature}" for feature in sorted(known))


def _is_of_tiles(feature: str) -> bool:
    return feature.startswith("amx-")


def flags_of(features: Iterable[str]) -> tuple[str, ...]:
    """What Linux calls these features, sorted."""
    return tuple(sorted(_FLAGS[feature] for feature in features))


def machine_level() -> str | None:
    """The highest level whose features this machine has; None where it is no x86-64."""
    return _fitting_levels(_machine_flags())[-1] if _is_x86_64() else None


def machine_cpu() -> str | None:
    """The CPU that this machine is: its level, and what it has more of what multiplies neighbours.

    None where it is no x86-64.
    """
    if not _is_x86_64():
        return None
    present, more = _machine_flags(), list[str]()
    level = _fitting_levels(present)[-1]
    for name, features in _EXTENSIONS.get(level, {}).items():
        is_said = {*features} <= {*level_features("+".join((level, *more)))}
        if not is_said and {*flags_of(features)} <= present:
            more.append(name)
    return "+".join((level, *more))


def machine_identity() -> str:
    """What tells this machine's CPU from others that code may be made for: its family, its model, and its flags.

    Besides, what of it code may use (`machine_cpu`): whether the system gives tile registers, no flag says.
    """
    of_model = re.findall(r"^(?:vendor_id|cpu family|model|stepping|flags)\s*:.*$", _first_cpu(), re.MULTILINE)
    return "\n".join((platform.machine(), machine_cpu() or "", *of_model))


def _is_x86_64() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


def _fitting_levels(present: frozenset[str]) -> list[str]:
    return [level for level in _LEVELS if {*flags_of(level_features(level))} <= present]


def require_machine(flags: Iterable[str], architecture: str = X86_64) -> None:
    """Check that this machine runs object code of an architecture that needs `flags` of its CPU.

    Raises:
        TinycError: `UnsupportedTarget`: it is of another architecture, or lacks some of them.
    """
    if architecture != X86_64:
        message = f"the model's code is for {architecture}, and what is loaded here is code for {X86_64}; compile the "
        raise TinycError("UnsupportedTarget", f"{message}program here, or write a C library of it (--emit-lib)")
    if not _is_x86_64():
        message = f"the model's code is for {X86_64}, and this machine is {platform.machine()}"
        raise TinycError("UnsupportedTarget", f"{message}; compile for target 'sim'")
    present = _machine_flags()
    missing = [flag for flag in flags if flag not in present]
    if missing:
        raise TinycError(
            "UnsupportedTarget",
            f"the model's code needs a CPU with {', '.join(missing)}, which {_CPUINFO} does not list for this machine; "
            f"compile the program here, or save the model with cpu='{_fitting_levels(present)[-1]}'",
        )


def _machine_flags() -> frozenset[str]:
    """The flags of this machine's CPU that code may rely on; none where the system does not tell."""
    said = _listed_flags()
    return said if _has_tiles(said) else frozenset(flag for flag in said if not flag.startswith("amx_"))


def _listed_flags() -> frozenset[str]:
    said = re.search(r"^flags\s*:(.*)$", _first_cpu(), re.MULTILINE)
    return frozenset(said[1].split() if said else ())


def _first_cpu() -> str:
    """What the system says of the first CPU: of all that a large machine has it takes long to."""
    try:
        with _CPUINFO.open(encoding="utf-8") as file:
            return "".join(itertools.takewhile(str.strip, file))
    except OSError:
        return ""


def _has_tiles(listed: frozenset[str]) -> bool:
    """Whether this process may use tile registers, for which it asks where the flags say that there are any."""
    return TILE_FLAG in listed and _is_x86_64() and _are_tiles_permitted()


@functools.cache
def _are_tiles_permitted() -> bool:
    """Ask the system for tile registers, once for the process: without them their first use ends it."""
    try:
        return ctypes.CDLL(None).syscall(*TILES_CALL) == 0
    except (OSError, AttributeError):  # another system
        return False
