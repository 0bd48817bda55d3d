"""Fusion: which ops share a kernel, and why.

In: a Tiny function, and the machine that regions are formed for. Out: regions and a ledger of every decision; no IR is
changed. Legality comes from Poly Core, prices from the schemes' resources and the machine's rates. Specification 000
§4, §6.

In reading order:

    graph            the nodes: compute ops, and who reads whose result
    group            the nodes of one kernel, which grows backwards from what is written
    form             all of a group that its price depends on
    group_candidate  the candidate that a group would be as a kernel
    pricing          what a kernel costs: its scheme, its resources, its time by terms
    request          what a user asks to be fused or kept
    requested_edges  the same in a graph
    stops            the rules that stop a kernel: legality, halo, what a machine has room for
    judge            whether a kernel takes the place of several, by which rule
    partition        which groups there are, and what would have to run when
    chains           a product, rows in front of it and the product in front of these, as one kernel
    formation        regions, backwards from the outputs
    exact            the best choice of kernels for a few nodes, by integer programming
    windows          where that choice is made
    regions          the outcome: regions in order, and the ledger
    ledger           every edge: fused or kept, by which rule, on what evidence
"""
