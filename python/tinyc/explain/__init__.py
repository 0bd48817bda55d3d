"""`tinyc explain`: one access, block or edge of a program's analyses, with its reasons, for a person to read.

In reading order:

    subject              what is explained: a Tiny function, its values by name, its IndexBook and its Poly-View
    memory               what a reshape that ends a region costs
    access, block, edge  `--access`, `--block` and `--edge`
    layered              where the boxes of a graph stand
    drawing              a graph with groups, placed on a plane
    svg                  that as a file
    explanation          the explanation that is asked for, or an overview
"""

from tinyc.explain.explanation import explain

__all__ = ["explain"]
