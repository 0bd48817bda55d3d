"""What all tests share: hypothesis draws the same examples in every run, and times none of them."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption("--random-examples", type=int, default=0, help="run that many new random programs, not CI's 300")
