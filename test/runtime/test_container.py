"""The file of a model: every byte of it is checked before it is used, and it is written as a whole or not at all."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from tinyc.diagnostics import TinycError
from tinyc.importers.files import replace_file
from tinyc.runtime import container
from tinyc.runtime.container import (
    FORMAT_VERSION,
    MAGIC,
    SECTION_ALIGNMENT_BYTES,
    MalformedModel,
    container_bytes,
    container_chunks,
    is_container,
    read_container,
)
from tinyc.vocabulary.mapped_file import require_unchanged

MANIFEST = {"target": "cpu", "names": ["a", "ü"]}
SECTIONS = {"code": bytes(range(256)) * 3 + b"x", "empty": b"", "array": np.arange(77, dtype=np.float32).tobytes()}


def written(path, sections=None):
    chosen = SECTIONS if sections is None else sections
    replace_file(path, container_chunks(MANIFEST, {name: memoryview(data) for name, data in chosen.items()}))
    return path


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "m.tinyc")


def refusal(path, data):
    """Return why a file with these bytes is refused."""
    path.write_bytes(data)
    with pytest.raises(MalformedModel) as caught:
        read_container(path)
    return str(caught.value)


def test_what_is_written_is_read(file):
    manifest, sections = read_container(file)
    assert {name: bytes(data) for name, data in sections.items()} == SECTIONS
    assert {name: manifest[name] for name in MANIFEST} == MANIFEST
    assert {each["name"]: each["bytes"] for each in manifest["sections"]} == {n: len(d) for n, d in SECTIONS.items()}


def test_sections_are_aligned_and_read_only(file):
    for data in filter(len, read_container(file)[1].values()):
        assert np.frombuffer(data, np.uint8).ctypes.data % SECTION_ALIGNMENT_BYTES == 0
        assert data.readonly


def test_the_same_content_gives_the_same_bytes(file, tmp_path):
    assert written(tmp_path / "again.tinyc").read_bytes() == file.read_bytes()


def test_the_size_is_known_without_reading_a_section(file, monkeypatch):
    sections = {name: memoryview(data) for name, data in SECTIONS.items()}
    monkeypatch.setattr(container.hashlib, "sha256", lambda _: pytest.fail("it was read"))
    assert container_bytes(MANIFEST, sections) == file.stat().st_size


def test_a_section_knows_whether_its_file_has_changed(file):
    array = np.frombuffer(read_container(file)[1]["array"], np.float32)
    require_unchanged(array)
    os.truncate(file, 0)
    with pytest.raises(TinycError, match="the file has changed since it was mapped"):
        require_unchanged(array)


def test_a_file_that_is_cut_off_anywhere_is_refused(file):
    whole = file.read_bytes()
    for end in sorted({*range(len(MAGIC), len(whole), 64), *range(1, 130), len(whole) - 1}):
        said = refusal(file, whole[:end])
        assert re.match(rf"the model is cut off: it has {end} bytes", said), end
    assert refusal(file, b"").startswith("this is no tinyc model: it begins with b''")


def test_every_flipped_bit_is_refused(file):
    whole, generator = bytearray(file.read_bytes()), np.random.default_rng(0)
    header = [(byte, bit) for byte in range(64) for bit in range(8)]
    anywhere = [(int(generator.integers(len(whole))), int(generator.integers(8))) for _ in range(2000 - len(header))]
    for byte, bit in (*header, *anywhere):
        whole[byte] ^= 1 << bit
        assert refusal(file, whole)
        whole[byte] ^= 1 << bit
    file.write_bytes(whole)
    read_container(file)


def test_damage_is_told_with_both_hashes(file):
    whole = bytearray(file.read_bytes())
    stored = bytes(whole[32:64]).hex()
    whole[-1] ^= 1
    assert re.fullmatch(
        rf"the model is damaged: the SHA-256 of its {len(whole)} bytes is [0-9a-f]{{64}}, and byte 32 says {stored}; "
        "get the file again, or save the model again",
        refusal(file, whole),
    )


def test_nothing_is_read_of_a_damaged_file(file, monkeypatch):
    whole = bytearray(file.read_bytes())
    whole[-1] ^= 1
    monkeypatch.setattr(container.json, "loads", lambda _: pytest.fail("the manifest was read"))
    assert "is damaged" in refusal(file, whole)


def test_bytes_behind_the_end_are_refused(file):
    size = file.stat().st_size
    assert refusal(file, file.read_bytes() + b"\n").startswith(f"1 bytes follow the end of the model at byte {size}")


@pytest.mark.parametrize("foreign", [b"\x7fELF\2\1\1" + bytes(99), b'{"uops": []}', b"PK\3\4", b"\x89PNG\r\n\x1a\n"])
def test_a_foreign_file_is_told(file, foreign):
    said = f"this is no tinyc model: it begins with {foreign[:8]!r}; give a file of model.save"
    assert refusal(file, foreign) == said


@pytest.mark.parametrize(("end", "other"), [(b"\r\n", b"\n"), (b"\n", b"\r\n")])
def test_a_transfer_as_text_is_told(file, end, other):
    said = refusal(file, file.read_bytes().replace(end, other))
    assert said == "the ends of lines in the model were changed on its way; transfer the file as binary"


@pytest.mark.parametrize(
    ("version", "why"), [(FORMAT_VERSION + 1, "a newer tinyc, or damaged; load it with"), (0, "an older")]
)
def test_another_format_is_told(file, version, why):
    whole = bytearray(file.read_bytes())
    whole[8:12] = version.to_bytes(4, "little")
    said = refusal(file, whole)
    assert said.startswith(f"the model is of format {version} and not {FORMAT_VERSION}: it is made by {why}")


def test_a_manifest_that_is_too_deep_is_refused(file, monkeypatch):
    monkeypatch.setattr(container.json, "dumps", lambda *_, **__: "[" * 100_000 + "]" * 100_000)
    written(file)
    with pytest.raises(
        MalformedModel, match="the manifest of the model is not what this tinyc writes: maximum recursion"
    ):
        read_container(file)


@pytest.mark.parametrize("size", [{"bytes": 10**6}, {"bytes": -1}, {}, {"bytes": "1"}])
def test_sections_that_there_cannot_be_are_refused(file, monkeypatch, size):
    dumps, listed = json.dumps, [{"name": "code", **size}]
    monkeypatch.setattr(container.json, "dumps", lambda each, **how: dumps({**each, "sections": listed}, **how))
    written(file)
    with pytest.raises(MalformedModel, match="the manifest of the model is not what this tinyc writes: "):
        read_container(file)


def test_what_was_read_stays_when_the_file_is_replaced(file):
    _, sections = read_container(file)
    written(file, {"code": b"new"})
    assert bytes(sections["code"]) == SECTIONS["code"]


def test_a_model_is_known_by_its_first_bytes_or_its_name(file, tmp_path):
    other = tmp_path / "model.bin"
    other.write_bytes(file.read_bytes())
    (tmp_path / "empty.tinyc").touch()
    (tmp_path / "program.json").write_text("{}")
    assert [is_container(tmp_path / name) for name in ("m.tinyc", "model.bin", "empty.tinyc")] == [True] * 3
    assert [is_container(tmp_path / name) for name in ("program.json", "no_such_file", ".")] == [False] * 3


def test_a_pipe_is_left_for_whoever_reads_it(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, b"{}")
    os.close(writing)
    assert not is_container(Path(f"/dev/fd/{reading}"))
    with open(reading, "rb") as file:
        assert file.read() == b"{}"
