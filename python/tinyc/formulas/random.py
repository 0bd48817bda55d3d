"""Random numbers as formulas: Philox-4x32-10."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
