"""The walk: one folder per layer, in the order in which a program goes down; `registry` is the table of them.

In reading order: `tiny`, `index_book` and `poly` beside it, `region`, `gpu`, `cuda` and `nvvm` below that, `exec` for
the host. `launch` is how the host learns from a kernel's layer what its launch is. `README.md` has an op of each
layer, its grammar, and the glossary.
"""
