"""Models of the asynchronous operations: tensor maps, bulk and tensor copies, swizzles, reductions, the mbarrier.

They are pure: addresses, values and words in, addresses, values and words out. When a copy happens, who may see it and
what is reported is the engine's business; what is undefined is raised as `Misuse` for it to report.
"""
