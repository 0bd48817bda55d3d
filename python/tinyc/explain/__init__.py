"""`tinyc explain`: one access, block or edge of a program, its fusion, or its memory, for a person to read.

In reading order:

    subject              what is explained: a Tiny function, its values by name, its IndexBook and its Poly-View
    buffer_reads         which buffer a reshape that is no block reads, and where a region ends
    access, block, edge  `--access`, `--block` and `--edge`
    fusion               `--fusion` and `--fusion-diff`: the regions and the decisions of ledgers, as tables
    layered              where the boxes of a graph stand
    drawing              a graph with groups, placed on a plane
    svg                  that as a file
    bars                 numbers as bars, for `tinyc bench`
    fusion_drawing       `--fusion-svg`: a program with its regions as such a graph
    fusion_subject       the formation, or the ledgers, that a command line means
    plans                `--plan`: the plans of kernels, and what they were chosen from
    arena                `--memory`: where buffers lie in the arena over time, and what a run needs
    arena_drawing        `--memory-svg`: that as a picture
    summary              `--summary`: what a model is made of, and what each region is predicted to take
    explanation          the explanation that is asked for, or an overview
"""

from tinyc.explain.explanation import explain

__all__ = ["explain"]
