"""How many random programs are run, and where their strategies are found: pytest's import mode adds no path."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

sys.path.insert(0, str(Path(__file__).parent.parent))


@pytest.fixture
def random_examples(request):
    """Give a decorator like `given`: 300 examples, always the same, or as many new ones as `--random-examples` says."""
    asked = request.config.getoption("--random-examples")
    examples = settings(
        max_examples=asked or 300,
        derandomize=not asked,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return lambda strategy: lambda check: examples(given(strategy)(check))
