"""IndexBook: a side table that says, for each value of a Tiny function, which axes it has and what it reads along them.

Here: one `index_book.table` beside each function, one entry a value: axes with size, kind and label, the domain, and an
access map to each operand, with floor divisions only. What has no such map is an `index_book.non_scop` with the reason.
Gone: what the ops compute. The table is for reading: a table found in a module is verified against the recomputed one,
and never consumed.

    "index_book.table"() ({
      "index_book.entry"() {value = "y", sizes = ["M", 3], dims = array<i64: 1>, kinds = ["iter", "reduce"],
        labels = ["m", ""], symbols = ["M"],
        domain = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 2 >= 0)>,
        inputs = ["x"], maps = [affine_map<(d0, d1)[s0] -> (d0, d1)>], guards = [], guard_values = [],
        reduce_axes = array<i64: 1>} : () -> ()
      omp.terminator
    }) {function = @main} : () -> ()
"""
