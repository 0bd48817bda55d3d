"""Quantisation, and products of quantised numbers, as formulas."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
