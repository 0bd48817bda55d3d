"""Resizing as formulas: nearest, linear and cubic interpolation."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
