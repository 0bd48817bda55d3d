"""What a pass is, and everything that runs passes.

A pass is a frozen dataclass derived from `Pass`: its fields are its options, its docstring its help. `Upstream` is a
pass of MLIR's own. Both are a `Step` of a pipeline; an `Instrument` hears of each step. `tinyc.pipeline` lists tinyc's
passes and the pipelines of each target.

In reading order:

    step              Pass, Upstream, Step, Instrument
    options           the fields of a pass as text, and back
    pipeline_text     `builtin.module(tiny-to-region,func.func(cse))` as steps, and back
    failures          where a pass failed that is not tinyc's
    runner            steps on a module, verified, with every way to fail as a `TinycError`
    reproducer        the file that repeats a failure
    loading           passes that a user's file, or an installed package, defines
"""

from tinyc.passes.step import Instrument, Pass, Step, Upstream

__all__ = ["Instrument", "Pass", "Step", "Upstream"]
