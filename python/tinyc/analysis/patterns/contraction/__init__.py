"""Contractions: a `sum` over a product of two operands (matrix products, convolutions), and the part of each axis.

`detect_contraction` takes a `tiny.reduce` and gives the operands' accesses and the roles of the axes, or the reason why
the reduce is not a contraction. The *joint axes* are those of the reduce's operand; where an operand reads a merged
axis, they are split into *digits*, and the roles are those of the digits. An axis in both operands is *batch* where it
is kept and *k* where it is summed; one in the left operand only is *m*, in the right one only *n*. An axis of extent 1
moves no index: one that is missing as m, n or k is taken from these, so that a product with M = 1 stays a matrix
product. A row ``s*o + d*k - p``, o from m or n, is a *window*: a convolution. Source: specification 000 §3.5.

In reading order:

    digits     joint axes that are written in digits
    roles      the part of each axis: batch, m, n or k
    windows    rows that add up several axes
    pattern    a contraction that was found
    detection  `detect_contraction`
    facts      a contraction as plain data, for its block in the Poly-View
"""

from tinyc.analysis.patterns.contraction.detection import (
    detect_contraction,
    is_summed_product,
    is_widening,
    summed_factors,
)
from tinyc.analysis.patterns.contraction.digits import Digits
from tinyc.analysis.patterns.contraction.pattern import Contraction
from tinyc.analysis.patterns.contraction.roles import Roles
from tinyc.analysis.patterns.contraction.windows import Window
from tinyc.analysis.patterns.rejection import Reason, Rejected

__all__ = [
    "Contraction",
    "Digits",
    "Reason",
    "Rejected",
    "Roles",
    "Window",
    "detect_contraction",
    "is_summed_product",
    "is_widening",
    "summed_factors",
]
