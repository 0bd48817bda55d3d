"""How many random programs are run, and where their strategies are found: pytest's import mode adds no path."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

sys.path.insert(0, str(Path(__file__).parent.parent))


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
