"""Makes `hand_made`, which the tests of this folder share, importable: pytest's import mode adds no path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
