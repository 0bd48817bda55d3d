"""Several processes compile the modules of a program: what they make is what one makes, whatever becomes of them."""

import os
import subprocess
import sys
import threading

import pytest

from tinyc.diagnostics import InternalError, TinycError
from tinyc.runtime import compile_processes
from tinyc.runtime.compile_processes import compile_objects
from tinyc.runtime.jit import compile_object

MODULES = [
    f"define i64 @f{number}(i64 %x) {{\n  %y = mul i64 %x, {number + 3}\n" + "  ; long\n" * number + "  ret i64 %y\n}"
    for number in (2, 5, 1, 4, 3, 0)
]


@pytest.fixture(autouse=True)
def two_processes(monkeypatch):
    """Make two processes worth it."""
    monkeypatch.setenv("TINYC_THREADS", "2")
    monkeypatch.setattr(compile_processes, "_WORTH_A_PROCESS_BYTES", 1)


@pytest.fixture(scope="module")
def expected():
    return [compile_object(each) for each in MODULES]


@pytest.fixture
def started(monkeypatch):
    """Note the processes that are started."""
    found, popen = [], subprocess.Popen

    def start(*given, **options):
        found.append(popen(*given, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return found


def idle_here(monkeypatch):
    """Let this process take nothing from the queue, and compile nothing."""

    def refused(*given):
        raise AssertionError("it is compiled here")

    monkeypatch.setattr(compile_processes, "_numbers_in", lambda queue: iter(()))
    monkeypatch.setattr(compile_processes, "compile_object", refused)


def interpreter(monkeypatch, folder, script, name="python3"):
    """Make a shell script what Python takes for its interpreter."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))


def test_they_make_what_one_makes_in_the_order_of_the_modules(expected, started):
    assert compile_objects(MODULES) == expected
    assert [each.returncode is not None for each in started] == [True]


@pytest.mark.parametrize("cpu", [None, "x86-64", "aarch64"])
def test_another_process_makes_the_same_for_any_cpu(monkeypatch, cpu):
    expected = [compile_object(each, cpu) for each in MODULES]
    idle_here(monkeypatch)
    assert compile_objects(MODULES, cpu) == expected


@pytest.mark.parametrize(
    "script",
    [
        "exit 3",
        "kill -9 $$",
        "cat > /dev/null; kill -9 $$",  # it has taken all
        "head -c 4 > /dev/null; exit 1",
        "exec /no/such/program",
        f'{sys.executable} "$@"; kill -9 $$',  # it has made all
    ],
)
def test_what_another_process_does_not_make_is_made_here(monkeypatch, tmp_path, script, expected, started):
    interpreter(monkeypatch, tmp_path, script)
    assert compile_objects(MODULES) == expected
    assert [each.returncode for each in started] not in ([], [None])


def test_where_no_process_can_be_started_all_is_made_here(monkeypatch, expected, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))  # there is none
    assert compile_objects(MODULES) == expected


@pytest.mark.parametrize("name", ["", "blender", "pythonista", "uwsgi"])
def test_a_program_that_embeds_python_is_not_started_again(monkeypatch, tmp_path, name, expected, started):
    interpreter(monkeypatch, tmp_path, "exit 1", name or "none")
    monkeypatch.setattr(sys, "executable", str(tmp_path / name) if name else None)
    assert compile_objects(MODULES) == expected
    assert started == []


def test_without_room_for_files_all_is_made_here(monkeypatch, tmp_path, expected, started):
    monkeypatch.setattr(compile_processes.tempfile, "tempdir", str(tmp_path / "missing"))
    assert compile_objects(MODULES) == expected
    assert started == []


def test_what_llvm_refuses_is_told_here(monkeypatch, started):
    with pytest.raises(InternalError, match="LLVM refuses the code that tinyc made"):
        compile_objects([*MODULES, "this is no LLVM IR"])
    with monkeypatch.context() as patched:
        patched.setattr(compile_processes, "_numbers_in", lambda queue: iter(()))
        with pytest.raises(InternalError, match="LLVM refuses the code that tinyc made"):
            compile_objects(["this is no LLVM IR", *MODULES])
    with pytest.raises(TinycError, match="'cpu' is 'i486'"):
        compile_objects(MODULES, "i486")
    assert [each.returncode is None for each in started] == [False] * 3


def test_a_queue_has_as_many_as_it_holds_and_ends():
    with compile_processes._queue(40_000) as queue:
        found = [*compile_processes._numbers_in(queue)]
    assert found == [*range(len(found))]
    assert 1000 <= len(found) < 40_000


@pytest.mark.parametrize(("count", "worth", "others"), [("1", 1, 0), ("2", 1, 1), ("9", 1, 5), ("9", 10**6, 0)])
def test_there_are_no_more_than_cpus_modules_or_work(monkeypatch, count, worth, others, started, expected):
    monkeypatch.setenv("TINYC_THREADS", count)
    monkeypatch.setattr(compile_processes, "_WORTH_A_PROCESS_BYTES", worth)
    assert compile_objects(MODULES) == expected
    assert len(started) == others


def test_a_single_module_and_none():
    assert compile_objects([]) == []
    assert compile_objects(MODULES[:1]) == [compile_object(MODULES[0])]


def test_threads_may_compile_at_the_same_time(expected):
    found = []
    threads = [threading.Thread(target=lambda: found.append(compile_objects(MODULES))) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [expected] * 3


#: A program that no process could import, whose standard files are closed, and that prints what it finds to a file.
SCRIPT = """
import os, sys
for descriptor in range(3):
    os.close(descriptor)
from tinyc.runtime import compile_processes
from tinyc.runtime.jit import compile_object

compile_processes._WORTH_A_PROCESS_BYTES = 1
modules = [f"define i64 @f{k}() {{ ret i64 {k} }}" for k in range(6)]
expected = [compile_object(each) for each in modules]
pid = os.fork() if "fork" in sys.argv else 0  # the child goes on
if pid:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
compile_processes._numbers_in = lambda queue: iter(())  # the other process makes all
compile_processes.compile_object = None
made = compile_processes.compile_objects(modules)
try:
    left = os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    left = None
os._exit(0 if made == expected and left is None else 1)
"""


@pytest.mark.parametrize("arguments", [[], ["fork"]])
def test_it_works_without_standard_files_or_a_main_module_and_leaves_no_process(arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", SCRIPT, *arguments], check=True, env=environment, timeout=120)
