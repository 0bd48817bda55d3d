"""What all tests share: hypothesis draws the same examples in every run, and times none of them."""

import signal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.internal.conjecture import providers

from installed import stale_file
from tinyc.runtime import assembler

# Hypothesis draws constants that stand in the modules that are loaded: there would be other examples after each change
# of the code, and in another order of the tests.
providers._get_local_constants = lambda: providers._local_constants

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption("--random-examples", type=int, default=0, help="run that many new random examples, not CI's 300")


def pytest_configure(config):
    stale = stale_file()
    if stale is not None:
        raise pytest.UsageError(f"the installed tinyc is older than {stale}; run tools/setup dev")
    # A shell has what it starts in the background ignore Ctrl-C, and so does what is started from there.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def random_examples(request):
    """Give a decorator like `given`: `count` examples, always the same, or `--random-examples` new ones."""
    asked = request.config.getoption("--random-examples")

    def examples(strategy, count=300):
        chosen = settings(
            max_examples=asked or count,
            derandomize=not asked,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        return lambda check: chosen(given(strategy)(check))

    return examples


@pytest.fixture(scope="session")
def ptxas():
    """Return `assembler.assemble`: PTX and an architecture to machine code and what its kernels take."""
    if assembler.find_ptxas() is None:
        pytest.skip("did not run: there is no ptxas; it comes with the extra tinyc[cuda]")
    return assembler.assemble
