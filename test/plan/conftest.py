"""Makes importable what the tests of this folder share: pytest's import mode adds no path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
