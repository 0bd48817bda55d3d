"""Corrupted models: each is refused with an error of the user's, or it is imported."""

import signal

import pytest
from hypothesis import strategies as st

from importers.onnx.corruption import MODELS, damaged_bytes, damaged_models
from tinyc.diagnostics import InternalError, TinycError
from tinyc.importers.onnx.model import import_model

#: After so many seconds an import is said to hang.
_SECONDS = 20


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


def test_a_corrupted_model_is_refused_or_imported(random_examples):
    seen = {}

    @random_examples(st.integers(0, 3).flatmap(lambda kind: damaged_models() if kind else damaged_bytes()))
    def check(model):
        signal.alarm(_SECONDS)
        try:
            import_model(model)
            found = "imported"
        except InternalError:
            raise
        except TinycError as error:
            found = error.name
        signal.alarm(0)
        seen[found] = seen.get(found, 0) + 1

    check()
    assert seen["imported"] > 10, seen
    assert len(seen) > 5, seen
    print(seen)
