"""Instructions that threads execute at once, alone or with others of their CTA or cluster; a file is a family.

Alone: `arithmetic`, `moves`, `loads`, `atomics`, `control`, `system_calls`, `fences`, `cache_policy`. Together: `warp`,
`barriers`, `cluster_barrier`. What is asynchronous has a folder of its own beside this one.
"""
