"""The Before / After examples in the docstrings of the passes are what the passes do.

A line `…` in After leaves out ops of the module that it does not define: they may be anything. Options stand behind
Before: `Before {sizes="M=8"}:`.
"""

import re
import textwrap

import pytest

from tinyc import pipeline, text
from tinyc.dialects.registry import context

_SECTION = re.compile(r"^( *)(Before|After)(?: (\{.*\}))?:\n((?:\1 .*\n|\n)+)", re.MULTILINE)


def _examples(pass_class: type) -> tuple[dict[str, str], str]:
    """Return both sides of a pass's example, and its options."""
    found = _SECTION.findall(pass_class.__doc__ or "")
    return {name: textwrap.dedent(body) for _, name, _, body in found}, "".join(options for _, _, options, _ in found)


def _omitted(after: str, made: list[str]) -> str:
    """Return those of the ops that a pass made whose names After does not define."""
    names = [re.search(r'func (?:private )?@[\w.]+\(|sym_name = "[^"]+"', op) for op in made]
    return "\n".join(op for op, name in zip(made, names, strict=True) if name and name[0] not in after)


@pytest.mark.parametrize("pass_class", pipeline.PASSES, ids=lambda each: each.name)
def test_before_becomes_after(pass_class: type) -> None:
    """Running the pass on Before gives After, up to the names of values."""
    example, options = _examples(pass_class)
    with context():
        module = text.parse(example["Before"], "before")
        pipeline.parse(pass_class.name + options).run(module)
        after = example["After"]
        if "…" not in after:
            assert str(module) == str(text.parse(after, "after"))
            return
        made = [str(op) for op in module.body.operations]
        shown = text.parse(after.replace("…", _omitted(after, made)), "after")
        assert sorted(made) == sorted(str(op) for op in shown.body.operations)
