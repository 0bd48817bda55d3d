"""Targets: what each GPU architecture has, as numbers with unit and source; one file an architecture."""

from tinyc.diagnostics import TinycError, either
from tinyc.target.sm80 import SM80
from tinyc.target.sm90 import SM90
from tinyc.target.target import Target

#: By age.
TARGETS = (SM80, SM90)
#: What is compiled for where neither the user nor a plan says it.
DEFAULT_ARCH = SM80.name


def target_of(name: str) -> Target:
    """The target called `name`: "sm_80" or "sm_90a", also spelled "sm80" or "sm90".

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    for target in TARGETS:
        if name in target.names:
            return target
    known = either(target.name for target in TARGETS)
    raise TinycError("UnsupportedTarget", f"'arch' is {name!r}, no GPU architecture; choose {known}")
