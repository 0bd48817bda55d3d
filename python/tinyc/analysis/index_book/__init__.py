"""The IndexBook: how each value of a Tiny function reads its operands. Specification 000 §1.3.

In reading order:

    axis_arguments   the arguments of movements over axes, where dimensions are split
    splits           the axes that dimensions of symbolic reshapes are split into
    book             the entries of a function's values
    invariants       what holds of every entry
"""
