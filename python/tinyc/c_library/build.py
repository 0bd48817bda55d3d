"""A C library on disk: the header, and the shared library that the system's C compiler links.

In: a program with the object code of its kernels, and where to write. Out: `lib.so` and `lib.h`.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from tinyc.c_library.header import exported_functions, header_text
from tinyc.c_library.interface import CInterface
from tinyc.c_library.source import POOL_FILE, TILES, source_text
from tinyc.diagnostics import InternalError, TinycError, Where
from tinyc.importers.files import replace_file
from tinyc.runtime.artifact import Artifact
from tinyc.runtime.const_pool import ConstPool
from tinyc.runtime.cpu_features import AARCH64, X86_64
from tinyc.runtime.object_archive import objects_in

#: Names the C compiler, with options if need be, as for make.
COMPILER_VARIABLE = "CC"
_OPTIONS = ("-shared", "-fPIC", "-O2", "-std=c11", "-pthread", "-Wall", "-Wextra")
#: Architecture → what compilers call it in front of the system.
_MACHINES = {X86_64: ("x86_64", "amd64"), AARCH64: ("aarch64", "arm64")}
#: What a library calls a flag of /proc/cpuinfo that it looks for: as a compiler's `__builtin_cpu_supports` does, where
#: all compilers know it, or a feature that `source` asks for in another way.
_FEATURES = {
    **{"pni": "sse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2", "bmi1": "bmi"},
    **{flag: flag for flag in ("popcnt", "ssse3", "avx", "avx2", "bmi2", "fma")},
    **{flag: flag for flag in ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")},
    **{"avx512_vnni": "avx512vnni", "avx512_bf16": "avx512bf16", "amx_tile": TILES},
    **{"avx_vnni": "avxvnni", "avx_vnni_int8": "avxvnniint8"},
}


def write_library(artifact: Artifact, path: Path, prefix: str) -> list[Path]:
    """Write the library of an artifact of target "cpu" to `path`, and its header beside it; the paths.

    Raises:
        TinycError: `NoCompiler`: there is no C compiler; `UnreadableFile`: `path` cannot be written, or is no library's
            name; `InvalidOption`: `prefix` is no identifier; `InputMismatch`: a weight has not been set.
    """
    if path.suffix != ".so":
        raise TinycError("UnreadableFile", "a shared library's name ends in .so; name it so", Where(file=str(path)))
    interface, header, compiler = CInterface(artifact.program, prefix), path.with_suffix(".h"), _compiler()
    _require_architecture(compiler, artifact.arch)
    pool = _pool_image(artifact)
    features = [name for flag, name in _FEATURES.items() if flag in artifact.flags]
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            place = Path(folder)
            (place / header.name).write_text(header_text(interface))
            (place / "model.c").write_text(source_text(interface, header.name, features))
            for number, image in enumerate(objects_in(artifact.code)):
                (place / f"kernels_{number}.o").write_bytes(image)
            (place / POOL_FILE).write_bytes(pool)
            (place / "exports").write_text(f"{{ global: {'; '.join(exported_functions(interface))}; local: *; }};\n")
            _link(compiler, place, path.name, prefix)
            for each, permissions in ((path, 0o777), (header, 0o666)):  # a library that is loaded keeps its own file
                replace_file(each, [(place / each.name).read_bytes()], permissions)
    except OSError as error:
        raise TinycError(
            "UnreadableFile", f"the library cannot be written: {error.strerror}", Where(file=str(path))
        ) from None
    return [path, header]


def _pool_image(artifact: Artifact) -> bytes:
    """The bytes of the ConstPool before kernels prepare what they keep there.

    Raises:
        TinycError: `InputMismatch`: a weight has not been set.
    """
    if not artifact.program.pool:
        return b""
    pool = ConstPool(artifact.program, artifact.arrays)
    pool.require(())
    return pool.image().memory.tobytes()


def _compiler() -> list[str]:
    """The C compiler and its options: that of the environment, else the system's.

    Raises:
        TinycError: `NoCompiler`.
    """
    value = os.environ.get(COMPILER_VARIABLE, "")
    try:
        named = shlex.split(value)
    except ValueError as error:
        message = f"{COMPILER_VARIABLE} is {value!r}, no command: {error}; name a C compiler by it, or unset it"
        raise TinycError("NoCompiler", message) from None
    found = shutil.which(named[0]) if named else next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if found is None:
        known = (
            f"{COMPILER_VARIABLE} names {named[0]!r}, which is no program"
            if named
            else "there is no cc, gcc or clang on PATH"
        )
        remedy = f"install a C compiler (Debian: apt install gcc libc6-dev), or name one by {COMPILER_VARIABLE}"
        raise TinycError("NoCompiler", f"a library needs the system's C compiler to be linked, and {known}; {remedy}")
    return [found, *named[1:]]


def _require_architecture(compiler: list[str], architecture: str) -> None:
    """Check that a compiler links for an architecture, if it says for which.

    Raises:
        TinycError: `NoCompiler`.
    """
    done = _run([*compiler, "-dumpmachine"], Path())
    machine = done.stdout.strip()
    made = next((name for name, spelt in _MACHINES.items() if machine.partition("-")[0] in spelt), architecture)
    if made != architecture and not done.returncode:
        message = (
            f"{shlex.join(compiler)!r} links for {machine}, and the kernels are for {architecture}; name a compiler"
        )
        raise TinycError(
            "NoCompiler", f"{message} for that by {COMPILER_VARIABLE}, such as {architecture}-linux-gnu-gcc"
        )


def _link(compiler: list[str], place: Path, library: str, prefix: str) -> None:
    objects = sorted(each.name for each in place.glob("kernels_*.o"))
    command = [*compiler, *_OPTIONS, "model.c", *objects, "-Wl,--version-script=exports", "-o", library, "-lm"]
    done = _run(command, place)
    if not done.returncode:
        return
    texts = [each.read_text() for each in (*place.glob("*.h"), place / "model.c")]
    includes = "".join(line for text in texts for line in text.splitlines(True) if line.startswith("#include <"))
    if said := _refusal(compiler, place, includes):
        remedy = "install the C library's headers (Debian: apt install libc6-dev), or name another compiler by"
        message = f"{shlex.join(compiler)!r} compiles no C program: {said}; {remedy} {COMPILER_VARIABLE}"
        raise TinycError("NoCompiler", message)
    if said := _refusal(compiler, place, f"{includes}\ntypedef struct {prefix} {prefix}_t;\n"):
        message = f"the prefix is {prefix!r}, and {prefix}_t is a name of C's own headers; give another prefix"
        raise TinycError("InvalidOption", message)
    if "error" in done.stderr and "model.c" in done.stderr:
        raise InternalError(f"the C compiler refuses what tinyc wrote: {done.stderr.strip()}")
    failed = f"'{shlex.join(command)}' fails with status {done.returncode}: {_last_line(done.stderr)}"
    raise TinycError("NoCompiler", f"{failed}; name another compiler by {COMPILER_VARIABLE}")


def _refusal(compiler: list[str], place: Path, source: str) -> str | None:
    """What a compiler says against a program; None where it takes it."""
    (place / "probe.c").write_text(source)
    done = _run([*compiler, *_OPTIONS, "-fsyntax-only", "probe.c"], place)
    return _last_line(done.stderr) if done.returncode else None


def _run(command: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=place, capture_output=True, text=True, errors="replace")


def _last_line(text: str) -> str:
    """The last line of a compiler's messages that tells of an error, or the last one."""
    lines = text.strip().splitlines() or ["it says nothing"]
    return next((line for line in reversed(lines) if "error" in line), lines[-1])
