"""Poly Core: what can be fused, where, and at what price; proofs by closed forms first, by isl where they end.

In: blocks of a Poly-View (`tinyc.analysis.poly.view`), and a tile. Out: frozen data with reasons for people. What is
"unproved" is never ok. Specification 000 §1.6.

    can_compute_at(producer, consumer, {"oh": 8, "ow": 16}).halo.per_axis    →  {"c": 0, "h": 2, "w": 2}
"""

from tinyc.analysis.poly_core.analysis import Analysis, analyze
from tinyc.analysis.poly_core.buffer import MinBuffer, min_buffer_for_edge
from tinyc.analysis.poly_core.compute_at import ComputeAt, Halo, can_compute_at
from tinyc.analysis.poly_core.groups import make_fusable_groups, why_not_fusable
from tinyc.analysis.poly_core.tails import ShapeSet, Tail
from tinyc.analysis.poly_core.witness import Witness

__all__ = [
    "Analysis",
    "ComputeAt",
    "Halo",
    "MinBuffer",
    "ShapeSet",
    "Tail",
    "Witness",
    "analyze",
    "can_compute_at",
    "make_fusable_groups",
    "min_buffer_for_edge",
    "why_not_fusable",
]
