"""How complicated a piecewise access may be; what is more is `ExcessivePiecewise`.

An access over a limit is not analysed: the value that it goes through is materialised, and read as a tensor. Judgement,
not measured thresholds (recipe on polyhedral analysis, §5): programs that people write stay far below.
"""

#: Distinct pad guards of an access.
MAX_GUARDS = 16
#: Pieces of an access: the inside, and for each guard the part where it is the first to fail.
MAX_PIECES = 32
#: Distinct floor divisions in the rows and the guards of an access.
MAX_DIVISIONS = 8
#: How deep floor divisions may stand inside each other.
MAX_NESTING = 3
#: Axes that a dimension may be split into, for reshapes of symbolic sizes.
MAX_AXES = 8
