"""Whether the tinyc that the tests import is the one of this tree."""

from pathlib import Path

import tinyc

ROOT = Path(__file__).parent.parent


def stale_file() -> str | None:
    """The first source of this tree that the installed tinyc lacks or has otherwise; None where it is the tree's."""
    installed = Path(tinyc.__file__).parent.parent
    if installed == ROOT / "python":
        return None
    python = ROOT / "python"
    trees = {"tinyc": python / "tinyc", "tinyc/dialects": ROOT / "dialects", "ptxsim": python / "ptxsim"}
    for folder, sources in trees.items():
        for path in sorted(sources.rglob("*.py")):
            copy = installed / folder / path.relative_to(sources)
            if not copy.is_file() or copy.read_bytes() != path.read_bytes():
                return str(path.relative_to(ROOT))
    return None
