"""Recurrent layers of static length as formulas, unrolled."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
