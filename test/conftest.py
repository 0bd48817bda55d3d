"""What all tests share: hypothesis draws the same examples in every run, times none, and is brief on a failure.

`--long` runs what CI leaves out too: the full product where CI runs each pair of parameters, more seeds, four times as
many random examples. A test says which of its parameters are long: `pytest.param(…, marks=pytest.mark.long)`.
"""

import functools
import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.internal.conjecture import engine, providers

from installed import stale_file
from tinyc.driver import cli
from tinyc.runtime import assembler, compile_processes, jit

# Hypothesis draws constants that stand in the modules that are loaded: there would be other examples after each change
# of the code, and in another order of the tests.
providers._get_local_constants = lambda: providers._local_constants

#: Tests compile, and leave nothing behind; those of the cache name a folder.
os.environ["TINYC_CACHE"] = ""

# Most tests compile the same examples and the same code of the host again and again, and LLVM makes the same of it.
compile_processes.compile_object = functools.lru_cache(maxsize=2000)(jit.compile_object)

#: A failure is made smaller for at most that many seconds, not five minutes, and nothing is drawn to explain it.
engine.MAX_SHRINKING_SECONDS = 20
PHASES = [phase for phase in Phase if phase is not Phase.explain]

settings.register_profile("repeatable", derandomize=True, deadline=None, phases=PHASES)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    help_text = "run that many new random examples, not the few of CI, which are the same each time"
    parser.addoption("--random-examples", type=int, default=0, help=help_text)
    parser.addoption("--long", action="store_true", help="run the full products of parameters, too")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--long"):
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    # What all tests are made of is there until the end: whoever collects garbage need not look at it each time.
    gc.collect()
    gc.freeze()


def pytest_configure(config):
    config.addinivalue_line("markers", "long: left out where --long is not given")
    stale = stale_file()
    if stale is not None:
        raise pytest.UsageError(f"the installed tinyc is older than {stale}; run tools/setup dev")
    # A shell has what it starts in the background ignore Ctrl-C, and so does what is started from there.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def random_examples(request):
    """Give a decorator like `given`: `count` examples, always the same, or `--random-examples` new ones.

    With `--long` they are four times as many.
    """
    asked, more = request.config.getoption("--random-examples"), 4 if request.config.getoption("--long") else 1

    def examples(strategy, count=300):
        chosen = settings(
            max_examples=asked or more * count,
            derandomize=not asked,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        return lambda check: chosen(given(strategy)(check))

    return examples


@pytest.fixture
def run(capfd):
    """Return a function that runs the command line and returns its status, stdout and stderr."""

    def call(*arguments):
        status = cli.main([str(each) for each in arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def ptxas():
    """Return `assembler.assemble`: PTX and an architecture to machine code and what its kernels take."""
    if assembler.find_ptxas() is None:
        pytest.skip("did not run: there is no ptxas; it comes with the extra tinyc[cuda]")
    return assembler.assemble
