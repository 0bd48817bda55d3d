"""Makes the strategies and the programs of the analyses' tests importable: pytest's import mode adds no path."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "analysis")]
