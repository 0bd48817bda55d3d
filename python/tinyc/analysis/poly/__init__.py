"""The Poly-View: a Tiny function as statements with domains, accesses and dependences. Specification 000 §1.4.

In reading order:

    block   blocks with piecewise accesses, and the tensors that no statement computes
    edge    dependences between blocks
    reads   what the outputs of a function need, and how each of those values reads tensors
    view    the view of a function
"""
