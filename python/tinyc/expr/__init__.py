"""The algebra of integer expressions: extents of tensors, indices over axes, and maps of views. Pure Python.

An expression is a sum of terms, each a number times a product of atoms. An atom is a symbol (`M`, by its name), an
axis (`i0`), or a division of expressions, `floordiv` or `mod`. There are two kinds:

    Extent      a polynomial over symbols and floor divisions: `2*M*N + (H - 1) floordiv 2`; with int, a `Dim`
    AxisExpr    linear in axes and in floor divisions by numbers, with a Dim as its constant: `2*i0 + i1 + M - 1`

Both are canonical, so that equal expressions are equal as values and as text (texts of extents are part of types):
terms are collected and in a fixed order, and no coefficient is 0. A constant extent is an int. Symbols are all
that an extent's division knows, so it leaves coefficients in ``[0, d)`` and a constant in ``(-d, 0]``; a division over
axes is simplified by the ranges of the axes, and `mod` is expanded. Only in a map of a view does an `AxisExpr` stand as
it is written: its terms in the order of the text, `mod` kept, nothing simplified.

In reading order:

    terms           atoms, sums, and how they are written: the one printer, and what a notation may change of it
    interpretation  what expressions mean: the one walk, which emitters, evaluations and converters give a meaning
    grammar         how expressions are read: the one parser, and what each language says of it
    extents         Dim and Extent: arithmetic, division, substitution, text
    maximum         the largest of several extents
    factors         exact division of extents, by sums too
    axes            AxisExpr: floor divisions by ranges, bounds, substitution; `axes.evaluation` over numpy's grids
    index_map       maps of views as they are written
    assumption      relations between extents that a program relies on
    size_equations  extents whose sizes are known: what symbols stand for when a program runs
    shape_equation  one equation between shapes, solved or split
    equations       many of them: what symbols stand for when a program is compiled
    affine_map      to MLIR's affine maps and back; the one module here that imports the bindings
    isl             to isl's functions, what they cost at most, and exact ranges; islpy is loaded where it is used

The runtime, which has no MLIR, imports this package; this package imports nothing of tinyc but its diagnostics, and
`affine_map` the bindings.
"""
