"""What a plan may call a scheme: names of the plan format, whether or not this version can build the scheme.

They stand apart from the schemes because the schema of plans, by which a dialect's verifier checks the attribute
`plan`, lies below the builders of kernels. `registry` has the schemes themselves.
"""

#: The values of a plan's field `scheme`.
SCHEME_NAMES = ("mma", "naive_2x2_per_thread", "generic", "row_reduce", "elementwise", "scan")
#: Field of a plan → its value that says as much as the scheme of that name (002 §5).
SCHEME_SPELLINGS = {"warp_tile": "naive_2x2_per_thread"}
