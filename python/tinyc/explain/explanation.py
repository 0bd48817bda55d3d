"""`tinyc explain`: one access, block or edge of a program with its reasons, its fusion, its memory, or an overview.

In: the arguments as `driver/arguments` reads them. Out: text on stdout. What is printed is what the IndexBook says
(`access`), the Poly-View (`block`, `edge`), Poly Core and the formation of regions; nothing is decided here.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator

from tinyc.diagnostics import printable
from tinyc.driver.layer import layer_of
from tinyc.driver.program_text import in_file, shown_argument
from tinyc.driver.progress import shown_progress
from tinyc.explain.access import access_lines
from tinyc.explain.arena import memory_tables
from tinyc.explain.arena_drawing import arena_picture
from tinyc.explain.block import block_lines
from tinyc.explain.drawing import picture_of
from tinyc.explain.edge import edge_lines
from tinyc.explain.fusion import fusion_tables
from tinyc.explain.fusion_drawing import fusion_drawing
from tinyc.explain.fusion_subject import (
    compared_fusion,
    explained_machine,
    explained_program,
    formation_of,
    lowering_of,
    request_difference,
    tiny_module,
)
from tinyc.explain.plans import kernel_plans, plan_tables, plans_to_json
from tinyc.explain.subject import Line, Subject
from tinyc.explain.summary import summary_tables
from tinyc.explain.svg import svg_text
from tinyc.fusion.ledger import ledger_to_json
from tinyc.importers.files import write_file
from tinyc.mlir import ir
from tinyc.plan.source import split_plan
from tinyc.text.table import Table, print_table


def explain(arguments: argparse.Namespace) -> int:
    """Print what is asked for and return the exit status.

    Raises:
        TinycError: the program cannot be read, is not of the Tiny layer, or has nothing of that name.
    """
    if arguments.fusion_diff:
        return _print_tables(compared_fusion(arguments))
    with shown_progress("explain"):
        module = explained_program(arguments.program, arguments)
    if arguments.plans or arguments.plan_json:
        return _explain_plans(module, arguments)
    if arguments.memory or arguments.memory_svg is not None:
        return _explain_memory(module, arguments)
    if layer_of(module) == "frontend":
        views = arguments.fusion, arguments.fusion_svg, arguments.access, arguments.block, arguments.edge
        arguments.summary |= not arguments.fusion_json and all(each is None for each in views)
    if arguments.summary:
        return _explain_summary(module, arguments)
    module = tiny_module(module, arguments)
    with module.context:
        subject = Subject.of(module)
        if arguments.fusion is not None or arguments.fusion_json or arguments.fusion_svg is not None:
            return _explain_fusion(subject, arguments)
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


def _explain_fusion(subject: Subject, arguments: argparse.Namespace) -> int:
    """Print the regions of a program, and the decisions on its edges, or write them as a drawing."""
    with in_file(shown_argument(arguments.program)), shown_progress("explain"):
        formation = formation_of(subject, arguments)
    if arguments.fusion_svg is not None:
        write_file(arguments.fusion_svg, svg_text(picture_of(fusion_drawing(formation))))
        return 0
    if arguments.fusion_json:
        sys.stdout.write(ledger_to_json(formation.ledger))
        return 0
    asked = request_difference(subject, arguments, formation.ledger)
    return _print_tables((*fusion_tables(formation.ledger), *asked))


def _explain_summary(module: ir.Module, arguments: argparse.Namespace) -> int:
    """Print what a model is made of, and what its regions are predicted to take."""
    with in_file(shown_argument(arguments.program)):
        with shown_progress("explain"), module.context:
            tables = summary_tables(lowering_of(module, arguments), explained_machine(arguments))
        return _print_tables(tables)


def _explain_plans(module: ir.Module, arguments: argparse.Namespace) -> int:
    """Print the plans of the kernels of a program, and what they were chosen from."""
    with in_file(shown_argument(arguments.program)):
        with shown_progress("explain"):
            target = explained_machine(arguments)
            regions = lowering_of(module, arguments).module("region")
            with regions.context:
                plans = kernel_plans(regions, split_plan(arguments.plan)[0], target)
        if arguments.plan_json:
            sys.stdout.write(plans_to_json(plans, target))
            return 0
        return _print_tables(plan_tables(plans, target))


def _explain_memory(module: ir.Module, arguments: argparse.Namespace) -> int:
    """Print where the buffers of a program lie, as the target runs it, or write them as a drawing."""
    with in_file(shown_argument(arguments.program)):
        with shown_progress("explain"):
            program = lowering_of(module, arguments).program()
        if arguments.memory_svg is not None:
            write_file(arguments.memory_svg, svg_text(arena_picture(program)))
            return 0
        return _print_tables(memory_tables(program))


def _print_tables(tables: Iterable[Table]) -> int:
    for number, table in enumerate(tables):
        sys.stdout.write("\n" if number else "")
        print_table(table)
    return 0


def _overview(subject: Subject, program: str) -> Iterator[Line]:
    """The signature, a line for each block and tensor, and the edges."""
    yield Line("program", program)
    yield from _under("input", subject.inputs)
    yield from _under("constant", subject.constants)
    width = max((len(item.name) for item in subject.view.items), default=0)
    rows = (f"{item.name:<{width}}  {subject.summary(item)}" for item in subject.view.items)
    yield from _under("block", rows)
    edges = (f"{edge.source.name} -> {edge.target.name}" for edge in subject.view.edges)
    yield from _under("edge", edges)
    of_values = "--access VALUE | --block NAME | --edge FROM TO [--tile AXIS=SIZE,…]"
    yield Line("more", f"tinyc explain {of_values} | --fusion | --plan | --memory | --summary")


def _under(title: str, texts: Iterable[str]) -> Iterator[Line]:
    """A line for each text, the first with the title."""
    return (Line("" if number else title, text) for number, text in enumerate(texts))
