"""Makes the strategies importable: pytest's import mode adds no path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
