"""What a compilation makes and a model runs: the host program, its kernels' code, arrays; and the file that has them.

In: what a target's lowering gives, or a file. Out: an `Artifact`, which `driver/load.py` makes a model of.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tinyc import __version__
from tinyc.diagnostics import TinycError, Where
from tinyc.importers.files import replace_file, unreadable_file
from tinyc.runtime.container import FORMAT_VERSION, MalformedModel, container_chunks, read_container
from tinyc.runtime.frozen_json import frozen_from_json, frozen_to_json
from tinyc.runtime.program import Program
from tinyc.vocabulary.element_type import BY_NAME, element_of

_PROGRAM, _CODE, _ARRAY = "program", "code", "array."
_FIELDS = {"target": str, "arch": str, "cpu": str, "flags": list, "arrays": list, "tinyc": str, "format": int}
#: What is compiled for, and what its kernels are.
CODE_KINDS = {"cpu": "object code", "sim": "PTX", "cuda": "PTX"}


@dataclass(frozen=True)
class Artifact:
    """A program with its kernels: `code` is an ELF object on the target "cpu", and PTX on "sim" and "cuda".

    `arch` is "x86-64" or the GPU's architecture. `cpu` is the CPU that LLVM made the object for, by LLVM's name, and
    `flags` what a CPU must have to run it, by Linux' names. `arrays` are constants and weights, read-only.
    """

    target: str
    program: Program
    code: bytes
    arch: str
    cpu: str = ""
    flags: tuple[str, ...] = ()
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def __str__(self) -> str:
        kernels, buffers = len(self.program.launches), len(self.program.buffers)
        counted = f"{_count(kernels, 'kernel')}, {_count(buffers, 'buffer')}, {len(self.code)} bytes of"
        arrays = sum(array.nbytes for array in self.arrays.values())
        held = f", {_count(len(self.arrays), 'array')} of {arrays} bytes" if self.arrays else ""
        return f"{counted} {CODE_KINDS[self.target]} for {self.cpu or self.arch}{held}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def artifact_chunks(artifact: Artifact) -> list[bytes | memoryview]:
    """The file of an artifact, in the parts that it is written in."""
    dense = {name: np.asarray(array, order="C") for name, array in artifact.arrays.items()}
    manifest = {
        "tinyc": __version__,
        "format": FORMAT_VERSION,
        "target": artifact.target,
        "arch": artifact.arch,
        "cpu": artifact.cpu,
        "flags": list(artifact.flags),
        "arrays": [
            {"name": name, "element": element_of(array.dtype), "shape": list(array.shape)}
            for name, array in dense.items()
        ],
    }
    program = json.dumps(frozen_to_json(artifact.program), separators=(",", ":"))
    sections = {_PROGRAM: memoryview(program.encode()), _CODE: memoryview(artifact.code)}
    sections |= {_ARRAY + name: array.reshape(-1).view(np.uint8).data for name, array in dense.items()}
    return container_chunks(manifest, sections)


def write_artifact(path: Path, artifact: Artifact) -> int:
    """Write an artifact to a file, all of it or nothing; the size of the file in bytes.

    Raises:
        TinycError: `UnreadableFile`: it cannot be written.
    """
    chunks = artifact_chunks(artifact)
    try:
        replace_file(path, chunks)
    except (OSError, ValueError) as error:
        raise unreadable_file("write", path, error) from None
    return sum(map(len, chunks))


def read_artifact(path: Path) -> Artifact:
    """The artifact that a file has; its arrays are memory-mapped, and cannot be written to.

    Raises:
        TinycError: `UnreadableFile`; `InvalidModel`: it is no model, not whole, or of another format.
    """
    try:
        manifest, sections = read_container(path)
        return _artifact(manifest, sections)
    except MalformedModel as error:
        raise TinycError("InvalidModel", str(error), Where(file=str(path))) from None
    except (OSError, ValueError) as error:
        raise unreadable_file("read", path, error) from None


def _artifact(manifest: Mapping[str, Any], sections: Mapping[str, memoryview]) -> Artifact:
    """The artifact of a file that is undamaged: what is wrong with it was written so."""
    try:
        for name, kind in _FIELDS.items():
            if type(manifest[name]) is not kind:
                raise MalformedModel(f"'{name}' of the manifest is {manifest[name]!r}")
        if manifest["target"] not in CODE_KINDS:
            raise MalformedModel(f"its target is '{manifest['target']}'")
        return Artifact(
            target=manifest["target"],
            program=frozen_from_json(Program, json.loads(bytes(sections[_PROGRAM])), _PROGRAM),
            code=bytes(sections[_CODE]),
            arch=manifest["arch"],
            cpu=manifest["cpu"],
            flags=tuple(map(str, manifest["flags"])),
            arrays={each["name"]: _array(each, sections[_ARRAY + each["name"]]) for each in manifest["arrays"]},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedModel(f"the model is not what this tinyc writes: {error}; {_other_tinyc(manifest)}") from None


def _other_tinyc(manifest: Mapping[str, Any]) -> str:
    return f"tinyc {manifest.get('tinyc')} made it, and this is {__version__}: compile and save it again"


def _array(described: Mapping[str, Any], data: memoryview) -> np.ndarray:
    return np.ndarray(tuple(described["shape"]), BY_NAME[described["element"]].dtype, buffer=data)
