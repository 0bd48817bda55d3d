"""What exporters write out, as the op that it is.

In: a finished program. Out: the same program with one op in place of several, and without ops that nothing reads. A
rule applies only where it means exactly what was written: types, axes, constants and shapes agree, and what is between
is read nowhere else. Numbers differ as rounding does: of 16-bit floats an op rounds once, where exporters do each time.

In reading order:

    program_graph  a program by its values: what makes them, who reads them, which number or product they are
    language       patterns as expressions that read as the graph
    rule           a pattern and what stands for it
    activations    GELU, SiLU
    norms          layer norm, rms norm
    attention      attention
    rotary         rotary embedding
    fusion         all of them, applied to a program
"""
