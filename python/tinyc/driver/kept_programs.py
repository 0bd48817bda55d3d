"""Compiled programs: what was made of a source by options, to run without MLIR and LLVM.

In: a `ProgramText` and a `CompileRequest`, which say all that a user has asked for. Out: a `KeptProgram`. Files that
the source refers to, such as the weights of an ONNX model, are known by their hashes: where one has changed, the entry
is none.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from tinyc.cache.folder import CacheFolder, NewEntry, Sections, usable_cache
from tinyc.cache.keys import compiler_state, key_of
from tinyc.diagnostics import Remark, TinycError, Where
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.program_text import ProgramText
from tinyc.driver.request import CompileRequest
from tinyc.importers.files import FileState, file_state
from tinyc.runtime.artifact import Artifact, artifact_content, artifact_in, require_unchanged_arrays
from tinyc.runtime.boundary import Boundary
from tinyc.runtime.container import MalformedModel
from tinyc.runtime.cpu_features import machine_identity
from tinyc.runtime.frozen_json import frozen_from_json, frozen_to_json, with_file

_KIND, _FIELD = "program", "program"


class KeptProgram(NamedTuple):
    """A compiled program, with what is told of it: inputs and outputs, the layers it went through, the remarks.

    `files` are those that its source refers to, with the hashes of their contents.
    """

    artifact: Artifact
    boundary: Boundary
    layers: tuple[str, ...]
    remarks: tuple[Remark, ...]
    files: Mapping[str, str]

    def require_files(self) -> None:
        """Check that the files that the source refers to are what they were.

        Raises:
            MalformedModel: one is not.
            OSError: one cannot be read.
        """
        for path, digest in self.files.items():
            if _hash_of(Path(path)) != digest:
                raise MalformedModel(f"'{path}', which the program has weights in, has changed")


class ProgramEntry:
    """What is kept of a source that is compiled as a request says."""

    def __init__(self, cache: CacheFolder, state: str, source: ProgramText, request: CompileRequest) -> None:
        self._cache, self._source = cache, source
        place = (source.name or "", "" if source.folder is None else str(source.folder))
        self._key = key_of(state, machine_identity(), *place, source.digest, request.text)

    def read(self) -> KeptProgram | None:
        """The compiled program, if it has been kept."""
        found, name = self._cache.read(_KIND, self._key, _program_in), self._source.name
        if found is None or name is None:
            return found
        artifact = found.artifact.with_programs(lambda program: with_file(program, name))
        return found._replace(artifact=artifact)

    def keep(self, model: CompiledModel, files: Mapping[Path, FileState]) -> None:
        """Keep a model that was compiled of the source and of `files`, with its remarks.

        Where one of them has changed since it was read, nothing is kept.
        """
        artifact = model.artifact()
        try:
            require_unchanged_arrays(artifact)
            hashes = {str(path): _hash_of(path) for path in files}
            if any(file_state(path) != state for path, state in files.items()):
                return
        except (OSError, TinycError):
            return
        manifest, sections = artifact_content(artifact)
        manifest[_FIELD] = {
            "boundary": frozen_to_json(model.boundary),
            "layers": list(model.layers),
            # Each as a text, in which the evidence has its order; what is said of the cache itself is of one run.
            "remarks": [json.dumps(asdict(each)) for each in model.remarks if not each.code.startswith("cache-")],
            "files": hashes,
        }
        title = f"{self._source.name or 'a text'}, compiled for {artifact.target}"
        self._cache.write(_KIND, NewEntry(self._key, title, manifest, sections))


def program_entry(source: ProgramText, request: CompileRequest) -> ProgramEntry | None:
    """The entry of a program; None where nothing is to be kept."""
    cache = usable_cache() if request.has_key else None
    state = None if cache is None else compiler_state()
    return None if cache is None or state is None else ProgramEntry(cache, state, source, request)


def _program_in(manifest: Mapping[str, Any], sections: Sections) -> KeptProgram:
    kept = manifest[_FIELD]
    found = KeptProgram(
        artifact_in(manifest, sections),
        frozen_from_json(Boundary, kept["boundary"], "boundary"),
        tuple(kept["layers"]),
        tuple(map(_remark_of_json, kept["remarks"])),
        kept["files"],
    )
    found.require_files()
    return found


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remark_of_json(text: str) -> Remark:
    data = json.loads(text)
    return Remark(data["code"], Where(**data["where"]), data["message"], data["evidence"])
