"""Convolutions as formulas: sliding windows, `mul` and `reduce`, without a materialised im2col."""

from tinyc.formulas.schema import Function

FORMULAS: dict[str, Function | dict[str, Function]] = {}
