"""The Schedule Plan: what a region's kernel looks like, as data that can be written down, read back and checked.

`fields` is the plan itself: each field with its admissible values (`kinds`). It has three spellings that say the same:
JSON (`json_text`), the DSL (`dsl`) and the attribute `plan = {…}` of a `region.kernel` (`attribute`). A `table` has
plans for many regions, each under its region's `key`. `source` reads whatever a user gives as a plan. What a plan means
for a region, and its defaults, are its scheme's to say (`tinyc.schemes`).
"""
