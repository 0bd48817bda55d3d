"""The peak of this machine is measured: rates that are positive, and in an order that every machine has."""

import re

import pytest

from tinyc.driver import machine_peak as measuring
from tinyc.driver.machine_peak import last_cache_bytes, machine_peak, peak_bandwidths, peak_operations
from tinyc.driver.peak_loops import arithmetic_loops
from tinyc.runtime.jit import assembly_of
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
    (loop,) = arithmetic_loops(kind, cpu)
    floats = ("vfmadd", "mulp")[cpu == "x86-64"]
    expected = {ElementType.I32: "pmul", ElementType.I8: "pmaddwd"}.get(kind, floats)
    assert assembly_of(loop.llvm_ir, cpu).count(expected) >= 12


@pytest.mark.parametrize(
    ("kind", "cpu", "instruction", "count", "on_each"),
    [
        (ElementType.I8, "x86-64-v4+avx512vnni", "vpdpbusd", 12, 2 * 4 * 16),
        (ElementType.I8, "x86-64-v3+avxvnni", "vpdpbusd", 12, 2 * 4 * 8),
        (ElementType.I8, "x86-64-v3+avxvnniint8", "vpdpbssd", 12, 2 * 4 * 8),
        (ElementType.BF16, "x86-64-v4+avx512bf16", "vdpbf16ps", 12, 2 * 2 * 16),
        (ElementType.I8, "x86-64-v4+amx", "tdpbssd", 4, 2 * 64 * 16 * 16),
        (ElementType.BF16, "x86-64-v4+amx", "tdpbf16ps", 4, 2 * 32 * 16 * 16),
    ],
)
def test_products_of_neighbours_are_counted_where_the_cpu_has_them(kind, cpu, instruction, count, on_each):
    """Operations of one instruction, a multiply-add being two; between the sums of a loop nothing goes to memory."""
    plain, *dots = arithmetic_loops(kind, cpu)
    texts = {loop: assembly_of(loop.llvm_ir, cpu) for loop in dots}
    (loop,) = [each for each, text in texts.items() if instruction in text]
    body = re.search(r"\n\.LBB\w+:((?:(?!\n\.L)[\s\S])*?\n\tj\w+)", texts[loop])
    assert body
    assert loop.operations == count * on_each > plain.operations
    assert body[1].count(instruction) % count == 0 < body[1].count(instruction)
    assert not re.search(r"tile|\(%r", body[1])


def test_the_fastest_instructions_count(monkeypatch):
    """On a machine with VNNI and AVX512-BF16; f16 and bf16 where there is none are computed in f32."""
    rates = {loop: float(at) for at, loop in enumerate(arithmetic_loops(ElementType.BF16, "x86-64-v4+amx"))}
    rates |= {loop: 10.0 + at for at, loop in enumerate(arithmetic_loops(ElementType.I8, "x86-64-v4+amx"))}
    monkeypatch.setattr(measuring, "_measured", rates.__getitem__)
    for cpu, expected in (("x86-64-v4", [0, 10]), ("x86-64-v4+avx512vnni", [0, 12]), ("x86-64-v4+amx", [2, 12])):
        monkeypatch.setattr(measuring, "machine_cpu", lambda cpu=cpu: cpu)
        assert [peak_operations(kind) for kind in (ElementType.BF16, ElementType.I8)] == expected
    assert peak_operations(ElementType.F32) == 0


def test_the_last_cache_is_the_largest_one_that_linux_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "_CACHES", tmp_path)
    assert last_cache_bytes() == 0
    for number, size in enumerate(("32K", "2M", "", "512K")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n")
    assert last_cache_bytes() == 2 << 20
