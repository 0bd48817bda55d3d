"""What keys are made of: a change of anything that compiles is another key, or none."""

import os

import pytest

from tinyc.cache import keys


@pytest.fixture
def sources(tmp_path, monkeypatch):
    root = tmp_path / "package"
    (root / "inner").mkdir(parents=True)
    for name in ("one.py", "inner/two.py"):
        (root / name).write_text("pass")
        os.utime(root / name, (1, 1))
    monkeypatch.setattr(keys, "_SOURCES", (root,))
    return root


def state():
    return keys.sources_state.__wrapped__()


def test_parts_are_told_apart():
    assert len({keys.key_of("ab", "c"), keys.key_of("a", "bc"), keys.key_of("abc"), keys.key_of(b"abc", "")}) == 4


def test_a_source_that_is_written_to_is_another_state(sources):
    before = state()
    os.utime(sources / "inner" / "two.py", (2, 2))
    after = state()
    (sources / "inner" / "two.py").rename(sources / "three.py")
    assert len({before, after, state()}) == 3


def test_sources_that_are_younger_than_their_import_have_no_state(sources):
    (sources / "one.py").write_text("0")
    assert state() is None


def test_what_is_no_source_makes_no_difference(sources):
    before = state()
    (sources / ".#one.py").symlink_to("somebody@somewhere")
    (sources / "gone.py").symlink_to("nowhere.py")
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "one.py").write_text("")
    (sources / "notes.txt").write_text("")
    assert state() == before


def test_bindings_that_are_no_package_have_no_state(monkeypatch):
    monkeypatch.setenv("TINYC_MLIR", "mlir")
    assert keys.compiler_state.__wrapped__() is None


def test_packages_are_known_by_their_versions():
    (llvmlite,) = keys.package_versions("llvmlite")
    assert llvmlite.startswith("llvmlite-0.")
    assert {llvmlite} < set(keys.package_versions())
