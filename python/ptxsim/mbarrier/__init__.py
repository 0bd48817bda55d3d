"""The mbarrier: a pure state machine (`barrier`, which raises `Misuse`), and where it meets threads.

`objects` has those of a CTA and who waits for them, `groups` the lanes that do the same to one of them, `instructions`
the steps.
"""
