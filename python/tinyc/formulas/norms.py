"""Normalisations as formulas: two passes, mean first, in f32."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
