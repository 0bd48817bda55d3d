"""A function at the scalar level → CUDA C++ text: a kernel, or the host function that it is checked against.

Reading order:

    functions      a function line by line: declarations, loops, branches, stores
    text           a piece of an expression, which knows how tightly it binds
    expressions    pure ops as expressions, with the meaning that MLIR gives them
    folding        which values are written where they are used, and which get a name
    simplify       index arithmetic that a reader would do in the head, done before
    names          names for values after what they are
    types          types and constants
    ops            the scalar level's own ops, one file each
    prelude        the C++ functions that all of this calls
"""
