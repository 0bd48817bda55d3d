"""One file with named byte sections, of which every damage is found: what models are saved in.

In: a JSON object and byte arrays by name. Out: a file, and from it the same again, the sections read-only and mapped
into memory. `docs/model-file.md` describes it; in short:

    64 bytes   header: magic, version of the format, size of the JSON and of the file, SHA-256 of all the other bytes
    JSON       the manifest, in which `sections` says what is where
    sections   each at a multiple of 64 bytes, zeros between them

Nothing behind the header is looked at before the hash is right. A section that is read later is that of the file whose
hash it was for as long as `require_unchanged` says so.
"""

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tinyc.vocabulary.mapped_file import map_file, once_through

#: As PNG's: a byte with the highest bit, a name, and the ends of lines that a transfer as text would change.
MAGIC = b"\x89TNC\r\n\x1a\n"
#: Raised whenever a file is not what an older tinyc takes it for: its layout, the fields of a `Program`, the kernels'
#: calling convention.
FORMAT_VERSION = 1
SECTION_ALIGNMENT_BYTES = 64
#: What the name of such a file ends with, by convention.
MODEL_SUFFIX = ".tinyc"

#: Magic, version, bytes of the manifest, bytes of the file, 0; the hash of all but itself follows.
_FIELDS = struct.Struct("<8sIIQQ")
_HASH_BYTES = hashlib.sha256().digest_size
_HEADER_BYTES = _FIELDS.size + _HASH_BYTES
_AGAIN = "get the file again"
#: What the magic becomes where the ends of lines are changed.
_CHANGED = {MAGIC.replace(b"\r\n", b"\n"), MAGIC.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), MAGIC[:4] + b"\r\r\n"}


class MalformedModel(ValueError):
    """A file that is no model, or not whole; the message says what it is and what to do."""


def container_chunks(manifest: Mapping[str, Any], sections: Mapping[str, memoryview]) -> list[bytes | memoryview]:
    """What a file consists of, in order; the sections are views of bytes. The same content gives the same bytes."""
    chunks = _behind_header(manifest, sections)
    fields = _FIELDS.pack(MAGIC, FORMAT_VERSION, len(chunks[0]), _HEADER_BYTES + sum(map(len, chunks)), 0)
    digest = hashlib.sha256(fields)
    for chunk in chunks:
        digest.update(chunk)
    return [fields, digest.digest(), *chunks]


def container_bytes(manifest: Mapping[str, Any], sections: Mapping[str, memoryview]) -> int:
    """The size of such a file; no section is read for it."""
    return _HEADER_BYTES + sum(map(len, _behind_header(manifest, sections)))


def _behind_header(manifest: Mapping[str, Any], sections: Mapping[str, memoryview]) -> list[bytes | memoryview]:
    """The manifest, with what is where, and the sections, each with zeros up to the next one."""
    listed = [{"name": name, "bytes": len(data)} for name, data in sections.items()]
    described = json.dumps({**manifest, "sections": listed}, sort_keys=True, separators=(",", ":")).encode()
    chunks: list[bytes | memoryview] = [described, _padding(len(described))]
    for data in sections.values():
        chunks += [data, _padding(len(data))]
    return chunks


def _padding(size_bytes: int) -> bytes:
    return bytes(-size_bytes % SECTION_ALIGNMENT_BYTES)


def read_container(path: Path) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """The manifest and the sections of a file, whose hash is right.

    Raises:
        OSError: it cannot be read.
        MalformedModel: it is no model, of another format, or not whole.
    """
    with path.open("rb") as file:
        return read_open_container(file, path)


def read_open_container(file: BinaryIO, path: Path) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """`read_container` of a file that is open."""
    manifest_bytes, stored = _checked_header(file)
    mapped = map_file(file, path)
    whole = mapped.data
    digest = hashlib.sha256(whole[: _FIELDS.size])
    for part in once_through(mapped[_HEADER_BYTES:]):
        digest.update(part.data)
    if digest.digest() != stored:
        raise MalformedModel(
            f"the model is damaged: the SHA-256 of its {len(whole)} bytes is {digest.hexdigest()}, and byte "
            f"{_FIELDS.size} says {stored.hex()}; get the file again, or save the model again"
        )
    try:
        return _taken_apart(whole, manifest_bytes)
    except (KeyError, TypeError, ValueError, RecursionError) as error:  # a hash is right for whatever was written
        raise MalformedModel(
            f"the manifest of the model is not what this tinyc writes: {error}; save it again"
        ) from None


def container_manifest(file: BinaryIO) -> dict[str, Any]:
    """The manifest of an open file, of which the header alone is checked.

    Raises:
        OSError, ValueError: it cannot be read.
        MalformedModel: by its header it is no model, of another format, or not whole.
    """
    manifest_bytes, _ = _checked_header(file)
    return json.loads(file.read(manifest_bytes))


def _taken_apart(whole: memoryview, manifest_bytes: int) -> tuple[dict[str, Any], dict[str, memoryview]]:
    start = _HEADER_BYTES + manifest_bytes
    manifest = json.loads(bytes(whole[_HEADER_BYTES:start]))
    sections: dict[str, memoryview] = {}
    for section in manifest["sections"]:
        start += -start % SECTION_ALIGNMENT_BYTES
        end = start + section["bytes"]
        if not start <= end <= len(whole):
            raise ValueError(f"section '{section['name']}' ends at byte {end} of {len(whole)}")
        sections[section["name"]] = whole[start:end]
        start = end
    return manifest, sections


def _checked_header(file: BinaryIO) -> tuple[int, bytes]:
    """The size of the manifest and the stored hash of a file that is as long as it says.

    Raises:
        MalformedModel: by its header it is no model, of another format, or not whole.
    """
    header, size_bytes = file.read(_HEADER_BYTES), os.fstat(file.fileno()).st_size
    if any(header.startswith(each) for each in _CHANGED) and not header.startswith(MAGIC):
        raise MalformedModel("the ends of lines in the model were changed on its way; transfer the file as binary")
    if not header or not header.startswith(MAGIC[: len(header)]):
        found = header[: len(MAGIC)]
        raise MalformedModel(f"this is no tinyc model: it begins with {found!r}; give a file of model.save")
    if len(header) < _HEADER_BYTES:
        raise MalformedModel(f"the model is cut off: it has {size_bytes} bytes of at least {_HEADER_BYTES}; {_AGAIN}")
    _, version, manifest_bytes, expected_bytes, _ = _FIELDS.unpack_from(header)
    if version != FORMAT_VERSION:
        newer = "made by a newer tinyc, or damaged; load it with that one"
        why = newer if version > FORMAT_VERSION else "made by an older tinyc; compile and save it again"
        raise MalformedModel(f"the model is of format {version} and not {FORMAT_VERSION}: it is {why}")
    if size_bytes < expected_bytes:
        raise MalformedModel(f"the model is cut off: it has {size_bytes} bytes of {expected_bytes}; {_AGAIN}")
    if size_bytes > expected_bytes:
        behind = size_bytes - expected_bytes
        raise MalformedModel(f"{behind} bytes follow the end of the model at byte {expected_bytes}; {_AGAIN}")
    return manifest_bytes, header[_FIELDS.size :]


def is_container(source: bytes | Path) -> bool:
    """Whether bytes, or a file, begin as models do, or the file is called as models are."""
    if isinstance(source, bytes):
        return source.startswith(MAGIC)
    if source.suffix == MODEL_SUFFIX:
        return True
    try:
        if not source.is_file():  # a pipe gives its bytes once, to whoever reads the program
            return False
        with source.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False  # whoever reads it says why it cannot
