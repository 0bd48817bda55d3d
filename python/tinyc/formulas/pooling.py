"""Pooling as formulas: reductions of sliding windows."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
