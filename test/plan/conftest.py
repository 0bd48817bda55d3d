"""Makes importable what the tests of this folder share, and the programs of those of the analyses."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "analysis")]
