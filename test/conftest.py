"""What all tests share: hypothesis draws the same examples in every run, and times none of them."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
