"""A module that is imported when something of it is first asked for."""

import importlib
from typing import Any


class Deferred:
    """Stands for the module called `name`, which many who import the user of it do not need."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)  # the next time it is an attribute as any other
        return value
