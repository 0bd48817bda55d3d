"""`tinyc explain`: one access, block or edge of a program with its reasons, or an overview, for a person to read.

In: the arguments as `cli_arguments` reads them. Out: text on stdout. What is printed is what the analyses say, the
IndexBook (`access`), the Poly-View (`block`, `edge`) and Poly Core; nothing is decided here.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator

from tinyc.diagnostics import printable
from tinyc.driver.sources import program_argument, shown_argument
from tinyc.explain.access import access_lines
from tinyc.explain.block import block_lines
from tinyc.explain.edge import edge_lines
from tinyc.explain.subject import Line, Subject


def explain(arguments: argparse.Namespace) -> int:
    """Print what is asked for and return the exit status.

    Raises:
        TinycError: the program cannot be read, is not of the Tiny layer, or has nothing of that name.
    """
    module = program_argument(arguments.program, arguments.bind)
    with module.context:
        subject = Subject.of(module)
        if arguments.access is not None:
            lines = access_lines(subject, arguments.access)
        elif arguments.block is not None:
            lines = block_lines(subject, arguments.block)
        elif arguments.edge is not None:
            lines = edge_lines(subject, *arguments.edge, tile=arguments.tile)
        else:
            lines = _overview(subject, shown_argument(arguments.program))
        for line in list(lines):
            sys.stdout.write(f"{line.title:<12}{printable(line.text)}".rstrip() + "\n")
    return 0


def _overview(subject: Subject, program: str) -> Iterator[Line]:
    """The signature, a line for each block and tensor, and the edges."""
    yield Line("program", program)
    yield from _under("input", subject.inputs)
    width = max((len(item.name) for item in subject.view.items), default=0)
    rows = (f"{item.name:<{width}}  {subject.summary(item)}" for item in subject.view.items)
    yield from _under("block", rows)
    edges = (f"{edge.source.name} -> {edge.target.name}" for edge in subject.view.edges)
    yield from _under("edge", edges)
    yield Line("more", "tinyc explain --access VALUE | --block NAME | --edge FROM TO [--tile AXIS=SIZE,…]")


def _under(title: str, texts: Iterable[str]) -> Iterator[Line]:
    """A line for each text, the first with the title."""
    return (Line("" if number else title, text) for number, text in enumerate(texts))
