"""A layer's text with something changed is compiled on or refused with a clear error: no defect, crash or hang.

`--random-examples N` judges more than those of CI.
"""

import random

from opt.mutations import DUMPS, WAYS, listing, mutated, outcome, outcome_of_program
from programs.example_bindings import BIND


def judged(seeds, places, judge):
    """Return what is wrong with how mutated texts are judged, and the ways in which they are."""
    wrong, seen = {}, set()
    for seed in range(seeds):
        chance = random.Random(seed)
        (target, layer), example, bound = chance.choice(places), chance.choice(list(BIND)), chance.random() < 0.5
        found = judge(target, layer, mutated(listing(example, target, layer, bound), seed))
        seen.add(found)
        if found not in ("compiled", "refused"):
            wrong[target, layer, example, bound, seed] = found
    return wrong, seen


def test_mutated_layers(request):
    places = [(target, layer) for layer, (target, _) in WAYS.items()]
    seeds = request.config.getoption("--random-examples") or 60
    wrong, seen = judged(seeds, places, lambda target, layer, source: outcome(layer, source))
    assert not wrong
    assert seen == {"compiled", "refused"}


def test_mutated_dumps_as_programs(request):
    seeds = request.config.getoption("--random-examples") or 60
    wrong, seen = judged(seeds, DUMPS, lambda target, layer, source: outcome_of_program(target, source))
    assert not wrong
    assert seen == {"compiled", "refused"}
