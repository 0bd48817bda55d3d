"""Targets: what each GPU architecture has, as numbers with unit and source; one file an architecture.

In reading order:

    machine         what the cost of a kernel is computed from, on any machine
    target          what a GPU architecture has
    sm80, sm90      Ampere and Hopper
    role_registers  the registers that a CTA with specialised warps is launched with
    cpu             a CPU, by a fixed table, and the vectors of each level of x86-64
    dot_products    what multiplies neighbours of a sum: AMX, VNNI and AVX512-BF16
"""

from collections.abc import Sequence
from typing import TypeAlias

from tinyc.diagnostics import TinycError, either
from tinyc.target.cpu import DEFAULT_CPU as DEFAULT_CPU
from tinyc.target.cpu import GENERIC_CPU, CpuTarget
from tinyc.target.cpu import WIDEST_VECTORS as WIDEST_VECTORS
from tinyc.target.cpu import VectorUnit as VectorUnit
from tinyc.target.cpu import vector_unit_of as vector_unit_of
from tinyc.target.dot_products import DOT_FORMS as DOT_FORMS
from tinyc.target.dot_products import TILE_SIDE as TILE_SIDE
from tinyc.target.dot_products import TILES_ACROSS as TILES_ACROSS
from tinyc.target.dot_products import DotForm as DotForm
from tinyc.target.dot_products import DotProduct as DotProduct
from tinyc.target.sm80 import SM80
from tinyc.target.sm90 import SM90
from tinyc.target.target import Target

#: What regions are formed for: a GPU's architecture, or a CPU.
Machine: TypeAlias = Target | CpuTarget

#: By age.
TARGETS = (SM80, SM90)
#: What is compiled for where neither the user nor a plan says it.
DEFAULT_ARCH = SM80.name


def target_of(name: str) -> Target:
    """The target called `name`: "sm_80" or "sm_90a", also spelled "sm80" or "sm90".

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    found = next((target for target in TARGETS if name in target.names), None)
    if found is not None:
        return found
    known = either(target.name for target in TARGETS)
    what = "several architectures, where one is taken" if "," in str(name) else "no GPU architecture"
    raise TinycError("UnsupportedTarget", f"'arch' is {name!r}, {what}; choose {known}")


def targets_of(names: str | Sequence[str]) -> tuple[Target, ...]:
    """The targets that are called so, by age: of one name, of several in one text, "sm_80,sm_90a", or of a sequence.

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    asked = (
        {target_of(name.strip()) for name in names.split(",")} if isinstance(names, str) else {*map(target_of, names)}
    )
    return tuple(target for target in TARGETS if target in asked)


def machine_of(name: str) -> Machine:
    """What regions are formed for: "cpu", or a GPU's architecture.

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    machines: tuple[Machine, ...] = (GENERIC_CPU, *TARGETS)
    found = next((machine for machine in machines if name in machine.names), None)
    if found is not None:
        return found
    known = either(machine.name for machine in machines)
    raise TinycError("UnsupportedTarget", f"'target' is {name!r}, nothing to form regions for; choose {known}")
