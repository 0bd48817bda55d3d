"""What a plan may call a scheme: names of the plan format, whether or not this version can build the scheme.

They stand apart from the schemes because the schema of plans, by which a dialect's verifier checks the attribute
`plan`, lies below the builders of kernels. `registry` has the schemes themselves.
"""

#: The values of a plan's field `scheme`.
SCHEME_NAMES = (
    "mma",
    "naive_2x2_per_thread",
    "generic",
    "row_reduce",
    "elementwise",
    "scan",
    "cpu_contraction",
    "cpu_attention",
    "cpu_rows",
    "cpu_winograd",
    "cpu_generic",
)
#: What is built on a CPU → the form of its loops there, by its name in `analysis.cpu_form.CpuForm`.
CPU_FORMS = {
    "cpu_contraction": "PRODUCT",
    "cpu_attention": "ATTENTION",
    "scan": "SCAN",
    "cpu_rows": "STEPS",
    "cpu_generic": "ELEMENTS",
}
#: Field of a plan → its value that says as much as the scheme of that name (002 §5).
SCHEME_SPELLINGS = {"warp_tile": "naive_2x2_per_thread"}
