"""The engine: flat code becomes one closure for each instruction, and the threads of a launch run through them.

`compile` makes the closures (`arithmetic` from the semantics, the other files from their `HANDLERS`), `cta` and `batch`
hold what threads are and which of them run together, `schedule` chooses them, `grid` runs the CTAs of a launch.
"""
