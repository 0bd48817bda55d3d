"""The worker of `simulator_corpus.py`: it runs cases of the corpus by name, and without a name tells all names."""

import hashlib
import time
from typing import Any

import ptxsim
from checkout import answer_with
from ptxsim_cases.case_launch import launch
from ptxsim_cases.cases import CASES

KNOWN = {f"{case.ptx}: {case.entry}: {case.name}": case for case in CASES}


def answer(name: str) -> Any:
    """The seconds of the processor to load a case and to launch it, and a digest of what came out."""
    if not name:
        return list(KNOWN)
    text, arrays = KNOWN[name].text(), KNOWN[name].arrays()
    start = time.process_time()
    module = ptxsim.load(text)
    loaded = time.process_time()
    report = launch(KNOWN[name], module, arrays)
    launched = time.process_time()
    found = [(each.kind, each.message, each.line, each.threads, each.occurrences) for each in report.findings]
    digest = hashlib.sha256(repr((found, report.counters)).encode())
    for array in arrays.values():
        digest.update(array.tobytes())
    return loaded - start, launched - loaded, digest.hexdigest()


if __name__ == "__main__":
    answer_with(answer)
