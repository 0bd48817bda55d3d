"""The Before / After examples in the docstrings of the passes are what the passes do."""

import re
import textwrap

import pytest

from tinyc import pipeline, text
from tinyc.mlir import context

_SECTION = re.compile(r"^( *)(Before|After):\n((?:\1 .*\n|\n)+)", re.MULTILINE)


def _examples(pass_class: type) -> dict[str, str]:
    found = _SECTION.findall(pass_class.__doc__ or "")
    return {name: textwrap.dedent(body) for _, name, body in found}


@pytest.mark.parametrize("pass_class", pipeline.PASSES, ids=lambda each: each.name)
def test_before_becomes_after(pass_class: type) -> None:
    """Running the pass on Before gives After, up to the names of values."""
    example = _examples(pass_class)
    with context():
        module = text.parse(example["Before"], "before")
        pipeline.parse(pass_class.name).run(module)
        assert str(module) == str(text.parse(example["After"], "after"))
