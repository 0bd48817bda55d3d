"""Expressions as isl's objects.

In reading order:

    parameters  what isl can say of an extent, and what is a parameter to it
    functions   expressions as affine functions, and a limit on isl's work; this one loads islpy
    ranges      the exact range of an axis expression, where a closed form does not tell
"""


class TooHard(Exception):
    """isl needs more steps than it may take for an answer."""
