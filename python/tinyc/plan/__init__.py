"""The Schedule Plan: what a region's kernel looks like, as data that can be written down, read back and checked.

`fields` is the plan itself: each field with its admissible values (`kinds`). It has three spellings that say the same:
JSON (`json_text`), the DSL (`dsl`) and the attribute `plan = {…}` of a `region.kernel` (`attribute`). A `table` has
plans for many regions, each under its region's `key`. `source` reads whatever a user gives as a plan. What a plan means
for a region, and its defaults, are its scheme's to say (`tinyc.schemes`). In reading order:

    kinds, fields                what a value may be, and the plan: one dataclass
    key, table                   plans for many regions, by the keys of these
    places, json_text            the plan as JSON, each value with its place
    dsl_tokens, dsl, dsl_writer  the plan as a program of the DSL: its tokens, reading and writing it
    attribute                    the plan as an attribute
    source                       whatever a user gives as a plan
    refusals                     what speaks against a plan for a kernel
"""
