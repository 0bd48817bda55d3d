"""Makes the cases of the corpus importable, which the tests of this folder share: pytest adds no path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
