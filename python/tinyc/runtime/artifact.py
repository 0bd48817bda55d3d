"""What a compilation makes and a model runs: the host program, its kernels' code, arrays; and the file that has them.

In: what a target's lowering gives, or a file. Out: an `Artifact`, which `driver/load.py` makes a model of.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyc import __version__
from tinyc.diagnostics import TinycError, Where, counted
from tinyc.importers.files import replace_file, unreadable_file
from tinyc.runtime.container import MalformedModel, container_bytes, container_chunks, read_container
from tinyc.runtime.frozen_json import frozen_from_json, frozen_to_json
from tinyc.runtime.program import Program
from tinyc.runtime.stored_arrays import arrays_in, stored_arrays
from tinyc.vocabulary.element_type import element_of
from tinyc.vocabulary.mapped_file import require_unchanged

if TYPE_CHECKING:  # few models have one
    from tinyc.runtime.self_test import SelfTest

_PROGRAM, _CODE, _ARRAY = "program", "code", "array."
_FIELDS = {"target": str, "arch": str, "cpu": str, "flags": list, "arrays": list, "tinyc": str}
#: What the manifest says of the program for another architecture.
_OTHER_FIELDS = {"arch": str, "arrays": list}
#: What is compiled for, and what its kernels are.
CODE_KINDS = {"cpu": "object code", "sim": "PTX", "cuda": "PTX"}


@dataclass(frozen=True)
class Artifact:
    """A program with its kernels: `code` is ELF objects on the target "cpu", and PTX on "sim" and "cuda".

    `arch` is "x86-64", "aarch64" or the GPU's architecture. `cpu` is the CPU that LLVM made the objects for, by LLVM's
    name, and `flags` what a CPU must have to run it, by Linux' names. `arrays` are constants and weights, read-only.
    `self_test` tells whether it runs right where it is.

    `others` are the same program for other architectures, younger ones, on the target "cuda": launches, arena and
    arrays are each one's own, and they have no others in turn.
    """

    target: str
    program: Program
    code: bytes
    arch: str
    cpu: str = ""
    flags: tuple[str, ...] = ()
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    self_test: "SelfTest | None" = None
    others: tuple["Artifact", ...] = ()

    @property
    def architectures(self) -> tuple[str, ...]:
        """What it has code for, by age."""
        return (self.arch, *(each.arch for each in self.others))

    def with_arrays(self, arrays: Mapping[str, np.ndarray]) -> "Artifact":
        """The artifact with more arrays, for every architecture."""
        others = tuple(each.with_arrays(arrays) for each in self.others)
        return replace(self, arrays={**self.arrays, **arrays}, others=others)

    def with_programs(self, change: Callable[[Program], Program]) -> "Artifact":
        """The artifact with each architecture's program changed."""
        others = tuple(each.with_programs(change) for each in self.others)
        return replace(self, program=change(self.program), others=others)

    def on(self, target: str) -> "Artifact":
        """The artifact on another target that runs the same code."""
        return replace(self, target=target, others=tuple(each.on(target) for each in self.others))

    def for_gpu(self, compute_capability: tuple[int, ...] | None) -> "Artifact":
        """What runs best on a GPU: code for exactly this one, else the youngest that it runs.

        Where it runs none, or there is no GPU, it is the one for the oldest architecture.
        """
        if compute_capability is None or not self.others:
            return self
        running = [each for each in (self, *self.others) if _runs_on(each.arch, compute_capability)]
        return running[-1] if running else self

    def for_architecture(self, arch: str) -> "Artifact":
        """The one for an architecture alone.

        Raises:
            TinycError: `UnsupportedTarget`: there is no such architecture, or no code for it.
        """
        from tinyc.target import target_of  # with the table of devices, which a CPU has no use of

        chip = target_of(arch).chip
        found = next((each for each in (self, *self.others) if each.arch == chip), None)
        if found is None:
            message = f"the model has code for {' and '.join(self.architectures)}, and none for {chip}; compile its "
            raise TinycError("UnsupportedTarget", f"{message}program with that arch, too")
        return replace(found, self_test=self.self_test, others=())

    def __str__(self) -> str:
        made = "; ".join(each._made for each in (self, *self.others))
        arrays = sum(array.nbytes for array in self.arrays.values())
        held = f", {counted(len(self.arrays), 'array')} of {arrays} bytes" if self.arrays else ""
        tested = "" if self.self_test is None else f", a self-test of {self.self_test.size_bytes} bytes"
        return f"{made}{held}{tested}"

    @property
    def _made(self) -> str:
        """What was made for its own architecture."""
        kernels, buffers = len(self.program.launches), len(self.program.buffers)
        made = f"{counted(kernels, 'kernel')}, {counted(buffers, 'buffer')}, {len(self.code)} bytes of"
        return f"{made} {CODE_KINDS[self.target]} for {self.cpu or self.arch}"


def _runs_on(arch: str, compute_capability: tuple[int, ...]) -> bool:
    from tinyc.target import TARGETS  # as above

    return any(each.chip == arch and each.runs_on(compute_capability) for each in TARGETS)


def artifact_bytes(artifact: Artifact) -> int:
    """The size of the file of an artifact; no array is read for it."""
    return container_bytes(*artifact_content(artifact))


def artifact_content(artifact: Artifact) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """The manifest and the sections of the file of an artifact."""
    described, arrays = stored_arrays(_ARRAY, artifact.arrays)
    tested, test_arrays = dict[str, Any](), dict[str, memoryview]()
    if artifact.self_test is not None:
        from tinyc.runtime.self_test import self_test_content

        tested, test_arrays = self_test_content(artifact.self_test)
    manifest = {
        "tinyc": __version__,
        "target": artifact.target,
        "arch": artifact.arch,
        "cpu": artifact.cpu,
        "flags": list(artifact.flags),
        "arrays": described,
        **tested,
    }
    sections = {**_code_sections("", artifact), **arrays, **test_arrays}
    if artifact.others:
        manifest["others"] = [_other_content(each, artifact, sections) for each in artifact.others]
    return manifest, sections


def _code_sections(prefix: str, artifact: Artifact) -> dict[str, memoryview]:
    program = json.dumps(frozen_to_json(artifact.program), separators=(",", ":"))
    return {prefix + _PROGRAM: memoryview(program.encode()), prefix + _CODE: memoryview(artifact.code)}


def _other_content(other: Artifact, first: Artifact, sections: dict[str, memoryview]) -> dict[str, Any]:
    """What the manifest says of the artifact for another architecture; what it has of its own is added to `sections`.

    An array that the first one has in the same memory is the first one's.
    """
    prefix = f"{other.arch}."
    described, _ = stored_arrays(_ARRAY, other.arrays)
    own = {name: each for name, each in other.arrays.items() if not _same_memory(each, first.arrays.get(name))}
    sections |= _code_sections(prefix, other) | stored_arrays(prefix + _ARRAY, own)[1]
    return {"arch": other.arch, "arrays": described}


def _same_memory(array: np.ndarray, other: np.ndarray | None) -> bool:
    if other is None or array.ctypes.data != other.ctypes.data:
        return False
    return (array.dtype, array.shape, array.strides) == (other.dtype, other.shape, other.strides)


def write_artifact(path: Path, artifact: Artifact) -> int:
    """Write an artifact to a file, all of it or nothing; the size of the file in bytes.

    Raises:
        TinycError: `UnreadableFile`: it cannot be written, or a file that arrays are mapped from has changed.
    """
    require_unchanged_arrays(artifact)
    chunks = container_chunks(*artifact_content(artifact))
    try:
        replace_file(path, chunks)
    except (OSError, ValueError) as error:
        raise unreadable_file("write", path, error) from None
    return sum(map(len, chunks))


def require_unchanged_arrays(artifact: Artifact) -> None:
    """Check that the files that arrays are mapped from are what they were.

    Raises:
        TinycError: `UnreadableFile`.
    """
    tested = () if artifact.self_test is None else artifact.self_test.arrays
    of_others = (array for each in artifact.others for array in each.arrays.values())
    for array in (*artifact.arrays.values(), *of_others, *tested):
        require_unchanged(array)


def read_artifact(path: Path) -> Artifact:
    """The artifact that a file has; its arrays are memory-mapped, and cannot be written to.

    Raises:
        TinycError: `UnreadableFile`; `InvalidModel`: it is no model, not whole, or of another format.
    """
    try:
        manifest, sections = read_container(path)
        return artifact_in(manifest, sections)
    except MalformedModel as error:
        raise TinycError("InvalidModel", str(error), Where(file=str(path))) from None
    except (OSError, ValueError) as error:
        raise unreadable_file("read", path, error) from None


def artifact_in(manifest: Mapping[str, Any], sections: Mapping[str, memoryview]) -> Artifact:
    """The artifact of a file that is undamaged: what is wrong with it was written so.

    Raises:
        MalformedModel: it is not what `artifact_content` gives.
    """
    try:
        _check_fields(manifest, _FIELDS)
        if manifest["target"] not in CODE_KINDS:
            raise MalformedModel(f"its target is '{manifest['target']}'")
        first = _for_one(manifest, manifest, sections)
        others: list[Artifact] = []
        for each in manifest.get("others", ()):
            _check_fields(each, _OTHER_FIELDS)
            prefix = f"{each['arch']}."
            own = {name.removeprefix(prefix): data for name, data in sections.items() if name.startswith(prefix)}
            others.append(_for_one(each, manifest, {**sections, **own}))
        return replace(first, self_test=_self_test_in(manifest, sections, first.program), others=tuple(others))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise MalformedModel(f"the model is not what this tinyc writes: {error}; {_other_tinyc(manifest)}") from None


def _self_test_in(
    manifest: Mapping[str, Any], sections: Mapping[str, memoryview], program: Program
) -> "SelfTest | None":
    if "self_test" not in manifest:
        return None
    from tinyc.runtime.self_test import self_test_in

    return self_test_in(manifest["self_test"], sections, program)


def _check_fields(described: Mapping[str, Any], fields: Mapping[str, type]) -> None:
    for name, kind in fields.items():
        if type(described[name]) is not kind:
            raise MalformedModel(f"'{name}' of the manifest is {described[name]!r}")


def _for_one(described: Mapping[str, Any], manifest: Mapping[str, Any], sections: Mapping[str, memoryview]) -> Artifact:
    """The artifact for one architecture, of which `described` tells."""
    program = frozen_from_json(Program, json.loads(bytes(sections[_PROGRAM])), _PROGRAM)
    arrays = arrays_in(_ARRAY, described["arrays"], sections)
    _check_buffers(program, arrays)
    artifact = Artifact(
        target=manifest["target"],
        program=program,
        code=bytes(sections[_CODE]),
        arch=described["arch"],
        cpu=manifest["cpu"],
        flags=tuple(map(str, manifest["flags"])),
        arrays=arrays,
    )
    if artifact.target != "cpu":
        artifact.code.decode()
    return artifact


def _other_tinyc(manifest: Mapping[str, Any]) -> str:
    return f"tinyc {manifest.get('tinyc')} made it, and this is {__version__}: compile and save it again"


def _check_buffers(program: Program, arrays: Mapping[str, np.ndarray]) -> None:
    """Check that names have buffers, that those of the ConstPool lie in it, and that its arrays are theirs.

    Raises:
        MalformedModel: what a run would stumble over.
    """
    for kind, names in (("input", program.inputs), ("output", program.outputs), ("weight", program.weights)):
        if len(names) != len(program.of_kind(kind)):
            raise MalformedModel(f"it has {len(names)} {kind}s, and {len(program.of_kind(kind))} buffers for them")
    known = {buffer.name for buffer in program.buffers}
    for kernel in program.launches:
        passed = (each.buffer for each in (*kernel.pointers, *kernel.tensor_maps))
        unknown = {*kernel.reads, *kernel.writes, *passed} - known
        if unknown:
            raise MalformedModel(f"kernel '{kernel.symbol}' works on '{min(unknown)}', which is no buffer")
    for buffer in program.pool:
        offset, size, array = buffer.offset, buffer.size, arrays.get(buffer.name)
        if not isinstance(offset, int) or not isinstance(size, int) or not 0 <= offset <= program.pool_bytes - size:
            raise MalformedModel(f"{buffer.name} is at {offset}, {size} bytes long, in {program.pool_bytes} bytes")
        if array is None:
            if buffer.kind == "constant":
                raise MalformedModel(f"{buffer.name} has no array")
        elif (element_of(array.dtype), array.shape, array.nbytes) != (buffer.element, buffer.shape, size):
            declared = f"{buffer.element} {list(buffer.shape)} of {size} bytes"
            raise MalformedModel(f"{buffer.name} is {declared}, and its array {array.dtype} {list(array.shape)}")
