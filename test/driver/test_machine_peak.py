"""The peak of this machine is measured: rates that are positive, and in an order that every machine has."""

import pytest

from tinyc.driver import machine_peak as measuring
from tinyc.driver.machine_peak import last_cache_bytes, machine_peak, peak_bandwidths, peak_operations
from tinyc.runtime.jit import assembly_of
from tinyc.target.cpu import vector_unit_of
from tinyc.vocabulary.element_type import ElementType

KINDS = (ElementType.F64, ElementType.F32, ElementType.I32, ElementType.I8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_arithmetic_of_threads_is_that_of_one_as_often(kind, monkeypatch):
    monkeypatch.setattr(measuring.os, "sched_getaffinity", lambda _: range(3))
    one = peak_operations(kind)
    assert 1e8 < one < 1e13
    assert [machine_peak(threads).operations(kind) for threads in (1, 2, 4)] == [one, 2 * one, 3 * one]


def test_memory_is_slower_than_arithmetic_has_operands():
    copied, read = peak_bandwidths(1)
    assert 1e7 < copied < 1e13
    assert 1e7 < read < 1e13
    assert max(copied, read) < 8 * peak_operations(ElementType.F32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_every_step_is_in_the_loop_of_machine_code(kind, cpu):
    text = assembly_of(measuring._arithmetic_ir(kind, vector_unit_of(cpu).register_bytes), cpu)
    floats = ("vfmadd", "mulp")[cpu == "x86-64"]
    expected = {ElementType.I32: "pmul", ElementType.I8: "pmaddwd"}.get(kind, floats)
    assert text.count(expected) >= measuring._SUMS


def test_the_last_cache_is_the_largest_one_that_linux_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "_CACHES", tmp_path)
    assert last_cache_bytes() == 0
    for number, size in enumerate(("32K", "2M", "", "512K")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n")
    assert last_cache_bytes() == 2 << 20
