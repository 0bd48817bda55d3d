"""Object code by the cache: each kernel is compiled once, and anew where its entry is damaged."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tinyc
from cache.damage import WAYS, damaged_at
from runtime.tile_code import tile_code
from tinyc.cache import objects
from tinyc.cache.folder import open_cache
from tinyc.diagnostics import collect_remarks
from tinyc.runtime.compile_processes import compile_objects
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_archive import objects_in
from workloads.graph import Graph

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TINYC_CACHE", str(folder))
    return folder


@pytest.fixture
def compiled(monkeypatch):
    """Note how many units are compiled each time."""
    found = []

    def compile_noted(units, cpu):
        found.append(len(units))
        return compile_objects(units, cpu)

    monkeypatch.setattr(objects, "compile_objects", compile_noted)
    return found


def sums(factor):
    """Return a program of three kernels, without fusion: a scaled input, its sums, and their squares."""
    graph = Graph()
    scaled = graph.input("x", "fp32", 3, 4) * factor
    total = scaled.reduce("SUM", 1)
    return graph.program(total * total, scaled)


def units_of_text(*values):
    return {f"kernel.f{each}": f"define i64 @f{each}() {{ ret i64 {each} }}" for each in values}


def test_where_one_kernel_has_changed_it_alone_is_compiled(compiled):
    first = tinyc.compile(sums(2.0), fusion="none")
    count = len(objects_in(first.artifact().code))
    assert count >= 4, "three kernels, and what calls them"
    second = tinyc.compile(sums(3.0), fusion="none")
    third = tinyc.compile(sums(2.0), fusion="none")
    assert compiled == [count, 1, 0]
    assert third.artifact().code == first.artifact().code != second.artifact().code
    for model, factor in (first, 2), (second, 3), (third, 2):
        squares = next(iter(model.run(x=X).values()))
        np.testing.assert_allclose(squares, (factor * X).sum(1) ** 2, rtol=1e-5)


def test_a_kernel_is_taken_from_another_program(compiled):
    objects.object_of(units_of_text(1, 2))
    made = objects.object_of(units_of_text(3, 2))
    assert compiled == [2, 1]
    assert objects_in(made.image) == [compile_object(each).image for each in units_of_text(3, 2).values()]


def test_objects_together_need_what_each_of_them_does():
    """A kernel in tiles beside one that has none, in either order, made now or kept."""
    tiles = {"kernel.tiles": tile_code("tdpbssd")}
    needed = [objects.object_of(units, "x86-64-v4+amx").flags for units in (units_of_text(1), tiles)]
    assert {*needed[1]} - {*needed[0]} == {"amx_tile", "amx_int8"}
    for units in {**units_of_text(1), **tiles}, {**tiles, **units_of_text(1)}:
        assert objects.object_of(units, "x86-64-v4+amx").flags == needed[1]


def test_each_cpu_has_its_own(compiled):
    for cpu in (None, "x86-64", "x86-64-v3", "aarch64", None, "aarch64"):
        objects.object_of(units_of_text(1), cpu)
    assert compiled == [1, 1, 1, 1, 0, 0]


def test_the_list_says_which_kernel_each_is(cache):
    made = objects.object_of(units_of_text(1, 2))
    titles = {each.title for each in open_cache(cache).entries()}
    assert titles == {f"kernel.f{number}, object code for {made.cpu}" for number in (1, 2)}


@pytest.mark.parametrize("apart", [97, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("how", WAYS)
def test_a_kernel_whose_entry_is_damaged_at_any_byte_is_compiled_anew(cache, compiled, how, apart):
    made = objects.object_of(units_of_text(1, 2))
    path = min(cache.glob("object-*.entry"))
    whole = path.read_bytes()
    for byte in range(0, len(whole), apart):
        path.write_bytes(damaged_at(whole, byte, how))
        with collect_remarks() as remarks:
            assert objects.object_of(units_of_text(1, 2)) == made, byte
        assert [each.code for each in remarks] == ["cache-entry-dropped"]
        assert path.read_bytes() == whole
    assert {*compiled[1:]} == {1}


def test_an_entry_without_code_is_compiled_anew(cache, compiled):
    made = objects.object_of(units_of_text(1))
    (path,) = cache.glob("object-*.entry")
    key = path.name.removeprefix("object-").removesuffix(".entry")
    open_cache(cache).write("object", objects.NewEntry(key, "foreign", {}, {}))
    assert objects.object_of(units_of_text(1)) == made
    assert compiled == [1, 1]


def test_without_a_cache_all_is_compiled(monkeypatch, compiled, cache):
    monkeypatch.setenv("TINYC_CACHE", "")
    made = [objects.object_of(units_of_text(1, 2)) for _ in range(2)]
    assert (made[0], compiled) == (made[1], [2, 2])
    assert not cache.exists()


#: Compiles units that other processes compile, too, some at the same time, by two processes of its own.
MANY_TIMES = """
import sys
from tinyc.cache.folder import usable_cache
from tinyc.cache.objects import object_of
from tinyc.runtime import compile_processes
from tinyc.runtime.object_archive import objects_in
from tinyc.runtime.jit import compile_object

compile_processes._WORTH_A_PROCESS_BYTES = 1
first = int(sys.argv[1])
for k in range(3):
    numbers = [n % 9 for n in range(first + k, first + k + 4)]
    units = {f"kernel.f{n}": f"define i64 @f{n}() {{ ret i64 {n} }}" for n in numbers}
    assert objects_in(object_of(units).image) == [compile_object(each).image for each in units.values()]
    if k == first % 3:
        usable_cache().shrink(3000)
"""


def test_eight_processes_compile_at_once(cache):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TINYC_THREADS": "2"}
    command = [sys.executable, "-c", MANY_TIMES]
    running = [
        subprocess.Popen([*command, str(k)], stderr=subprocess.PIPE, text=True, env=environment) for k in range(8)
    ]
    assert [each.communicate()[1] for each in running] == [""] * 8
    assert not list(cache.glob("*.part"))
    assert not any(each.title.startswith("damaged") for each in open_cache(cache).entries())
