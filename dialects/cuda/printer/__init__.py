"""A function at the scalar level → CUDA C++ text: a kernel, or the host function that it is checked against.

Reading order:

    functions      a function statement by statement: loops, branches, stores
    values         its values: their names, the arrays that hold them, expressions where they are used
    declarations   what stands before: its head, its parameters, its arrays in shared memory
    arrays         which values are elements of an array: those that instructions give or update
    rolling        statements that stand several times as loops
    families       places that are declared alike as arrays, for these loops
    numbering      the numbers behind names, when that is done
    lines          a line of a function: the numbers in it that a loop may step
    wrapping       long lines as several
    text           a piece of an expression, which knows how tightly it binds
    expressions    pure ops as expressions, with the meaning that MLIR gives them
    threads        numbers of threads and CTAs, and what lanes exchange
    folding        which values are written where they are used, and which get a name
    words, nonnegative
                   which integers C++ computes with as they are: unsigned words, and positions
    idioms         address arithmetic that has a name, as calls, put there before
    simplify, positions, sums
                   index arithmetic that a reader would do in the head, or write as rows and columns, done before
    names          names for values after what they are
    types          types and constants
    ops            the scalar level's own ops, one file each
    prelude        the C++ functions that all of this calls
    instructions   those that are inline assembly: an instruction of PTX each
"""
