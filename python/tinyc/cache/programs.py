"""Compiled programs: what was made of a source by options, to run without MLIR and LLVM.

In: a `ProgramText` and a `CompileRequest`, which say all that a user has asked for. Out: a `KeptProgram`. Files that
the source refers to, such as the weights of an ONNX model, are known by their hashes: where one has changed, the entry
is none.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tinyc.cache.folder import CacheFolder, Sections, cache_here
from tinyc.cache.keys import compiler_state, key_of, machine_state
from tinyc.diagnostics import Remark, Where
from tinyc.driver.program_text import ProgramText
from tinyc.driver.request import CompileRequest
from tinyc.runtime.artifact import Artifact, artifact_content, artifact_in
from tinyc.runtime.boundary import Boundary
from tinyc.runtime.container import MalformedModel
from tinyc.runtime.frozen_json import frozen_from_json, frozen_to_json, with_file
from tinyc.vocabulary.mapped_file import require_unchanged

_KIND, _FIELD = "program", "program"


@dataclass(frozen=True)
class KeptProgram:
    """A compiled program, with what is told of it: inputs and outputs, the layers it went through, the remarks."""

    artifact: Artifact
    boundary: Boundary
    layers: tuple[str, ...]
    remarks: tuple[Remark, ...]


class ProgramEntry:
    """What is kept of a source that is compiled as a request says."""

    def __init__(self, store: CacheFolder, source: ProgramText, request: CompileRequest) -> None:
        self._store, self._source, self._request = store, source, request
        place = (source.name or "", "" if source.folder is None else str(source.folder))
        self._key = key_of(compiler_state(), machine_state(), *place, source.content, request.text)

    def read(self) -> KeptProgram | None:
        """The compiled program, if it has been kept."""
        found, name = self._store.read(_KIND, self._key, _program_in), self._source.name
        if found is None or name is None:
            return found
        artifact = found.artifact.with_programs(lambda program: with_file(program, name))
        return replace(found, artifact=artifact)

    def keep(self, program: KeptProgram, files: Iterable[Path]) -> None:
        """Keep the compiled program, which the source and these `files` made.

        Raises:
            TinycError: `UnreadableFile`: a file that arrays are mapped from has changed.
        """
        for array in program.artifact.arrays.values():
            require_unchanged(array)
        manifest, sections = artifact_content(program.artifact)
        manifest[_FIELD] = {
            "boundary": frozen_to_json(program.boundary),
            "layers": list(program.layers),
            "remarks": [json.dumps(asdict(each)) for each in program.remarks],  # in order
            "files": {str(path): _hash_of(path) for path in files},
        }
        title = f"{self._source.name or 'a text'}, compiled for {program.artifact.target}"
        self._store.write(_KIND, self._key, title, manifest, sections)


def program_entry(source: ProgramText, request: CompileRequest) -> ProgramEntry | None:
    """The entry of a program; None where nothing is to be kept."""
    store = cache_here()
    return None if store is None else ProgramEntry(store, source, request)


def _program_in(manifest: Mapping[str, Any], sections: Sections) -> KeptProgram:
    kept = manifest[_FIELD]
    for path, digest in kept["files"].items():
        if _hash_of(Path(path)) != digest:
            raise MalformedModel(f"'{path}', which the program has weights in, has changed")
    return KeptProgram(
        artifact_in(manifest, sections),
        frozen_from_json(Boundary, kept["boundary"], "boundary"),
        tuple(kept["layers"]),
        tuple(map(_remark_of_json, kept["remarks"])),
    )


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remark_of_json(text: str) -> Remark:
    data = json.loads(text)
    return Remark(data["code"], Where(**data["where"]), data["message"], data["evidence"])
