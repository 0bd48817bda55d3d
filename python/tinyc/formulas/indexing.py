"""Ops that read or write where their data says: gather, scatter, top-k and what is made of them."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
