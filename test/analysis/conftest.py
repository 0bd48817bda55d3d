"""Makes importable what several tests of this folder share, and the strategies: pytest's import mode adds no path."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
