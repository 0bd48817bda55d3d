"""Layer texts with a token or a line changed, and whether each is either compiled on or refused with a clear error."""

import random
import re
from functools import cache

import tinyc
from programs.example_bindings import BIND, EXAMPLES
from tinyc import pipeline, text
from tinyc.diagnostics import InternalError, TinycError
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program

#: By layer, the target whose listing it is, and the ways on from there.
WAYS = {
    "tiny": ("cpu", (pipeline.INDEX_BOOK, pipeline.POLY_VIEW, pipeline.CPU, pipeline.GPU, pipeline.CUDA_TEXT)),
    "indexbook": ("cpu", (pipeline.POLY_VIEW, pipeline.CPU)),
    "poly_view": ("cpu", (pipeline.INDEX_BOOK, pipeline.CPU)),
    "region": ("cpu", (pipeline.CPU[1:], pipeline.GPU[1:], pipeline.CUDA_TEXT[1:])),
    "plan": ("sim", (pipeline.GPU[2:], pipeline.CUDA_TEXT[2:])),
    "gpu": ("sim", (pipeline.GPU[3:], pipeline.CUDA_TEXT[3:])),
    "exec": ("cpu", (pipeline.CPU[2:],)),
    "loops": ("cpu", (pipeline.CPU[3:],)),
    "nvvm": ("sim", (pipeline.GPU[5:],)),
}
#: Target and layer of the dumps whose kernels are lowered, which the driver reads, too.
DUMPS = (("cpu", "exec"), ("cpu", "loops"), ("cpu", "llvm"), ("sim", "exec"), ("sim", "nvvm"), ("sim", "ptx"))
_TOKEN = re.compile(r'"[^"\n]*"|[%@#!^]?[\w.$-]+|->|\S')
_LIST = re.compile(r"(?<=\[)[^\[\]\n]+(?=\])|(?<=array<i64: )[^<>\n]+(?=>)|(?<=\()[^()\n]+(?=\))")
_OTHERS = ("0", "1", "-1", "3", "9223372036854775807", '""', '"M"', "f32", "i1", "index", "true", "[]", "{}", "-")


def listing(example, target, layer, bound):
    """Return the text of a layer of an example, its sizes bound or as few as may be."""
    return _lowering(example, target, bound).text(layer)


@cache
def _lowering(example, target, bound):
    """A program on its way to a target, as far as some listing is asked for."""
    needed = {"conv2d": BIND["conv2d"], "cumulative_sum": {"K": 7}}.get(example, {})
    return Lowering(read_program(EXAMPLES / f"{example}.json", BIND[example] if bound else needed), target)


def mutated(source, seed):
    """Return the text with one to three tokens, items of lists or lines dropped, doubled, exchanged or replaced."""
    chance = random.Random(seed)
    for _ in range(chance.choice((1, 1, 2, 3))):
        change = chance.choice((_with_another_token, _with_another_token, _with_another_item, _with_another_line))
        source = change(source, chance)
    return source


def _with_another_line(source, chance):
    return "\n".join(_changed(source.split("\n"), chance))


def _with_another_item(source, chance):
    lists = list(_LIST.finditer(source))
    if not lists:
        return source
    chosen = chance.choice(lists)
    return source[: chosen.start()] + ", ".join(_changed(chosen.group().split(", "), chance)) + source[chosen.end() :]


def _changed(items, chance):
    """Return the items with one dropped, doubled or replaced by another, or all of them in another order."""
    at, other = (chance.randrange(len(items)) for _ in range(2))
    once = [items[:at] + new + items[at + 1 :] for new in ([], [items[at]] * 2, [items[other]])]
    return chance.choice((*once, chance.sample(items, len(items)) if len(items) < 10 else once[0]))


def _with_another_token(source, chance):
    tokens = list(_TOKEN.finditer(source))
    if not tokens:
        return source
    token, other = chance.choice(tokens), chance.choice(tokens)
    kind = [each.group() for each in tokens if each.group()[0] == token.group()[0]]
    new = chance.choice(("", token.group() * 2, other.group(), chance.choice(kind), chance.choice(_OTHERS)))
    return source[: token.start()] + new + source[token.end() :]


def outcome(layer, source):
    """Return "compiled", "refused", or what is wrong with how it fails."""
    try:
        text.parse(source, "mutated.mlir")
    except TinycError as error:
        return _refusal(error)
    ends = []
    for way in WAYS[layer][1]:
        try:
            module = text.parse(source, "mutated.mlir")
            pipeline.Pipeline(way).run(module)
            ends.append("compiled")
        except TinycError as error:
            ends.append(_refusal(error))
    wrong = [end for end in ends if end not in ("compiled", "refused")]
    return wrong[0] if wrong else "compiled" if "compiled" in ends else "refused"


def outcome_of_program(target, source):
    """Return "compiled" or "refused" for a dump that is compiled as a program, or what is wrong with how it fails."""
    try:
        tinyc.compile(source, target)
    except TinycError as error:
        return _refusal(error)
    return "compiled"


def _refusal(error):
    """Return "refused", or what is wrong with an error: it is a defect, or shows another number of codes than one."""
    if isinstance(error, InternalError):
        return f"defect: {error}"
    return "refused" if all(str(each).count("[TC") == 1 for each in error.errors) else f"codes: {error}"
