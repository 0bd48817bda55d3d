"""Makes the blocks of the analyses' tests importable: pytest's import mode adds no path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "analysis"))
