"""Corrupted models: each is refused with an error of the user's, or it is imported, compiled and run."""

import signal
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import strategies as st

import tinyc
from importers.onnx.corruption import MODELS, damaged_bytes, damaged_models
from tinyc.diagnostics import InternalError, TinycError
from tinyc.executors.random_arrays import random_arrays
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.importers.onnx.model import import_model
from tinyc.runtime.boundary import boundary_of_program

#: After so many seconds an import is said to hang, and a run is stopped.
_SECONDS = 20
#: What takes more memory is compiled, and not run.
_MAX_BYTES = 2**26


@pytest.fixture(autouse=True)
def _no_hang():
    def hang(*_):
        raise TimeoutError(f"an import takes more than {_SECONDS} s")

    before = signal.signal(signal.SIGALRM, hang)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_what_is_corrupted_is_imported_as_it_was(model):
    import_model(model)


def imported(model):
    """The module of a model, or why it is refused."""
    signal.alarm(_SECONDS)
    try:
        return import_model(model)
    except InternalError:
        raise
    except TinycError as error:
        return error.name
    finally:
        signal.alarm(0)


def after_a_run(module):
    """What becomes of a module that is compiled, and run with random inputs; each symbol is 3."""
    try:
        compiled = tinyc.compile(module)
        boundary = boundary_of_program(program := compiled.artifact().program)
        if sum(compiled.required_memory(**dict.fromkeys(program.symbols, 3))) > _MAX_BYTES:
            return "compiled, too large to run"
        told = tuple(Assumption(extents.symbol(name), "eq", 3) for name in program.symbols)
        signal.alarm(_SECONDS)
        compiled.run_named(random_arrays(replace(boundary, assumptions=(*boundary.assumptions, *told)), 0))
    except InternalError:
        raise
    except TinycError as error:
        return f"imported, then {error.name}"
    except TimeoutError:
        return f"stopped after {_SECONDS} s"
    finally:
        signal.alarm(0)
    return "run"


def test_a_corrupted_model_is_refused_or_runs(random_examples, request):
    every = 1 if request.config.getoption("--random-examples") else 3
    seen, known = Counter(), {}

    @random_examples(st.integers(0, 9).flatmap(lambda kind: damaged_bytes() if kind == 9 else damaged_models()))
    def check(model):
        module = imported(model)
        if isinstance(module, str):
            seen[f"refused: {module}"] += 1
            return
        text = str(module)
        if text not in known:  # else it was harmed in nothing that counts, or as one before
            known[text] = after_a_run(module) if len(known) % every == 0 else "imported"
        seen[f"accepted: {known[text]}"] += 1

    check()
    assert sum(count for name, count in seen.items() if name.startswith("accepted")) > 10, seen
    assert seen["accepted: run"]
    assert len(seen) > 5, seen
    print("\n".join(f"{count:6} {name}" for name, count in sorted(seen.items())), f"{len(known):6} programs", sep="\n")
