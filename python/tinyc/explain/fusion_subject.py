"""What `tinyc explain --fusion` and `--memory` speak of: the regions of a program, its walk, or two ledgers.

A program is compiled as `tinyc run` would with the same `--target`, `--arch`, `--plan` and requests for edges.
"""

import argparse
import json
from pathlib import Path

from tinyc.dialects.region.size_sets import sizes_text
from tinyc.driver.layer import layer_of
from tinyc.driver.lowering import Lowering
from tinyc.driver.program_text import in_file, program_argument, shown_argument
from tinyc.driver.request import checked_sizes, pass_options
from tinyc.driver.sources import read_program
from tinyc.driver.weights import declare_weights
from tinyc.explain.fusion import fusion_differences
from tinyc.explain.subject import Subject
from tinyc.fusion.formation import form_regions
from tinyc.fusion.ledger import Ledger, ledger_from_json
from tinyc.fusion.regions import Formation
from tinyc.fusion.request import FusionRequest, fusion_request
from tinyc.importers.files import read_file
from tinyc.importers.weights_file import tensor_names
from tinyc.mlir import ir
from tinyc.plan.source import split_plan
from tinyc.target import DEFAULT_ARCH, Machine, machine_of
from tinyc.target.cpu import GENERIC_CPU
from tinyc.text.table import Table


def explained_program(argument: str, arguments: argparse.Namespace) -> ir.Module:
    """The program that a command line names, with the sizes, the fixed inputs and the weights that it gives.

    Raises:
        TinycError: as `program_argument` and `declare_weights`; the weights cannot be read.
    """
    with in_file(shown_argument(argument)):
        module = read_program(program_argument(argument), arguments.bind, arguments.constant)
        return module if arguments.weights is None else declare_weights(module, tensor_names(arguments.weights))


def formation_of(subject: Subject, arguments: argparse.Namespace) -> Formation:
    """The formation of a program's regions, for the target, and with the edges, that are asked for.

    Raises:
        TinycError: `UnsupportedTarget`; what is wrong with the edges, or with the plan.
    """
    return form_regions(subject.function, explained_machine(arguments), _request(arguments))


def request_difference(subject: Subject, arguments: argparse.Namespace, asked: Ledger) -> tuple[Table, ...]:
    """What the edges that are asked for change; nothing where there are none."""
    if not _request(arguments):
        return ()
    chosen = form_regions(subject.function, explained_machine(arguments)).ledger
    return fusion_differences(chosen, asked, ("not asked", "as asked"))


def lowering_of(module: ir.Module, arguments: argparse.Namespace) -> Lowering:
    """A program on its way to the target that is asked for, with its edges, plans and expected sizes.

    Raises:
        TinycError: `UnsupportedTarget`; what is wrong with the edges, the plan, or the sizes.
    """
    options = pass_options(arguments.target, arguments.arch, split_plan(arguments.plan)[0])
    sizes = sizes_text(checked_sizes(arguments.sizes))
    asked = {**_request(arguments).options(), **({"sizes": sizes} if sizes else {})}
    return Lowering(module, arguments.target, {**options, **asked})


def tiny_module(module: ir.Module, arguments: argparse.Namespace) -> ir.Module:
    """A program at the Tiny layer: one of the Frontend layer, lowered.

    Raises:
        TinycError: what a pass refuses.
    """
    return lowering_of(module, arguments).module("tiny") if layer_of(module) == "frontend" else module


def _request(arguments: argparse.Namespace) -> FusionRequest:
    """What the options and a plan table ask for."""
    asked = fusion_request(";".join(arguments.fuse), ";".join(arguments.no_fuse), arguments.fusion)
    return asked.with_edges(split_plan(arguments.plan)[1])


def explained_machine(arguments: argparse.Namespace) -> Machine:
    """What regions are formed and times predicted for."""
    options = pass_options(arguments.target, arguments.arch, split_plan(arguments.plan)[0])
    on_gpu = arguments.target in ("sim", "cuda")
    return machine_of(options.get("arch", DEFAULT_ARCH) if on_gpu else GENERIC_CPU.name)


def compared_fusion(arguments: argparse.Namespace) -> tuple[Table, ...]:
    """What differs between the two programs or ledgers that are asked for.

    Raises:
        TinycError: one of them cannot be read, or is none.
    """
    given = arguments.program, arguments.other
    one, other = (_ledger(argument, arguments) for argument in given)
    first, second = map(shown_argument, given)
    return fusion_differences(one, other, (first, second) if first != second else (first, f"{second} (2)"))


def _ledger(argument: str, arguments: argparse.Namespace) -> Ledger:
    """The ledger that is in a file, or that of the program that is there."""
    with in_file(shown_argument(argument)):
        text = None if argument == "-" else _ledger_text(Path(argument))
        if text is not None:
            return ledger_from_json(text)
        module = tiny_module(explained_program(argument, arguments), arguments)
        with module.context:
            return formation_of(Subject.of(module), arguments).ledger


def _ledger_text(path: Path) -> str | None:
    """The text of a file that holds a JSON object with the decisions of a ledger; None for what is a program."""
    text = read_file(path).decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # Tiny JSON may have comments, and IR is none
        return None
    return text if isinstance(value, dict) and "decisions" in value else None
