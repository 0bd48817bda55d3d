"""Poly Core: what can be fused, where, and at what price; proofs by closed forms first, by isl where they end.

In: blocks of a Poly-View (`tinyc.analysis.poly.view`), and a tile. Out: frozen data with reasons for people. What is
"unproved" is never ok. Specification 000 §1.6.

    can_compute_at(producer, consumer, {"oh": 8, "ow": 16}).halo.per_axis    →  {"c": 0, "h": 2, "w": 2}

In reading order:

    tile, inlining, dependences                  tiles of a block; element-wise blocks composed away; what comes first
    subscript, enumeration, footprint            the elements that a tile reads: closed forms, instances, boxes
    legality, proof                              whether a schedule keeps every dependence; what isl proves of it
    recompute, compute_at                        the recompute factor; a producer in the tiles of its consumer
    buffer                                       the memory between two blocks: registers, a circular buffer, global
    loops, coverage, live_in, groups             fusable groups: common loops, what they compute, what they keep on chip
    fused_loops                                  the loops of one kernel, and what a step computes, phase by phase
    partial_tiles, hints, analysis               tails; barriers and banks; all of it for one candidate
"""

from tinyc.analysis.poly_core.analysis import Analysis, analyze
from tinyc.analysis.poly_core.buffer import MinBuffer, min_buffer_for_edge
from tinyc.analysis.poly_core.compute_at import ComputeAt, Halo, can_compute_at
from tinyc.analysis.poly_core.dependences import Witness
from tinyc.analysis.poly_core.groups import make_fusable_groups, why_not_fusable
from tinyc.analysis.poly_core.partial_tiles import ShapeSet, Tail

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
