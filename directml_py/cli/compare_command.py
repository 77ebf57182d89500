"""``python -m directml_py compare``: Microsoft's library and the emulator, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..hardware import Case, Comparison, Isolated
    from ..hardware.sources import SourceOperator

HELP = "Compare Microsoft's DirectML with the emulator: which operators each accepts, and what they compute."
USAGE = """
  %(prog)s FILE --directml PATH
      whether both accept each operator of FILE
  %(prog)s FILE --directml PATH --d3d12 PATH
      also what both compute, theirs on that library's GPU
  %(prog)s CASES.jsonl
      what the emulator computes for recorded cases

FILE is an operator desc as JSON, a serialized graph, a DxDispatch model,
recorded cases (.jsonl, .jsonl.gz) or the folder of a capture. On WSL:
--directml /usr/lib/wsl/lib/libdirectml.so --d3d12 /usr/lib/wsl/lib/libd3d12.so;
on Windows DirectML.dll and d3d12.dll."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = USAGE.strip()
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--directml", metavar="PATH", help="Microsoft's DirectML library")
    parser.add_argument("--d3d12", metavar="PATH", help="a Direct3D 12 library, to compare results too")
    parser.add_argument("--dxcore", metavar="PATH", help="its DXCore (default: the one beside it)")
    parser.add_argument(
        "--save",
        metavar="OUT",
        type=Path,
        help="write disagreements as recorded cases (.jsonl, .jsonl.gz)",
    )


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0 if both agree on everything, 1 if not, 2 for a file or library that cannot be opened."""
    from ..hardware import HardwareError, Isolated, write_cases
    from ..hardware.sources import SourceError, operators_in

    try:
        sources = list(operators_in(arguments.file))
        if arguments.directml is None:
            return _replay(sources)
        with Isolated(arguments.directml, arguments.d3d12, arguments.dxcore) as library:
            cases = list(_compared(sources, library))
        if arguments.save is not None:
            write_cases(arguments.save, cases)
            print(f"{len(cases)} disagreements in {arguments.save}")
        return 1 if cases else 0
    except (HardwareError, SourceError) as error:
        return _wrong(str(error))
    except OSError as error:
        if error.filename is None:
            # Of the output, which `main` reports.
            raise
        return _wrong(f"{error.filename}: {error.strerror or error}")


def _wrong(text: str) -> int:
    print(f"compare: {text}", file=sys.stderr)
    return 2


def _compared(sources: list[SourceOperator], library: Isolated) -> Iterator[Case]:
    """Print the outcome for each operator; yields a case for each disagreement."""
    from ..hardware import Comparison

    for number, source in enumerate(sources):
        comparison = library.compare(source.desc, source.inputs)
        print(f"{source.name}: {comparison}")
        if isinstance(comparison, Comparison) and not comparison.same:
            yield _case(comparison, number)


def _case(comparison: Comparison, number: int) -> Case:
    from ..hardware import Case

    refused = ""
    if not comparison.theirs.accepted:
        stage = 1 if comparison.theirs.stage == "CreateOperator" else 2
        refused = f"0x{comparison.theirs.hresult:08x} at stage {stage} {comparison.theirs.stage}"
    name = f"{comparison.desc.name}-0-{number}"
    return Case(
        name, comparison.desc, comparison.inputs, None if refused else comparison.results or [], refused
    )


def _replay(sources: list[SourceOperator]) -> int:
    """Run recorded cases on the emulator and compare."""
    if any(source.case is None for source in sources):
        return _wrong("give --directml, the library to compare with; only recorded cases (.jsonl) need none")
    from ..text.terminal import track

    cases = [source.case for source in sources if source.case is not None]
    codes = [_same_as_recorded(case) for case in track(cases, "cases", len(cases))]
    print(f"{codes.count(0)} of {len(codes)} cases are the same")
    return max(codes, default=0)


def _same_as_recorded(case: Case) -> int:
    from .. import DMLError, evaluate, validate
    from ..hardware.comparison import difference

    diagnostics = validate(case.desc)
    if bool(diagnostics) is not bool(case.refused):
        print(f"{case.name}: there {case.refused or 'accepted'}; here {diagnostics}")
        return 1
    if diagnostics:
        return 0
    try:
        results = evaluate(case.desc, case.inputs)
    except DMLError as error:
        print(f"{case.name}: {error}")
        return 1
    comparisons = [
        difference(slot.path, ours, theirs)
        for slot, ours, theirs in zip(case.desc.outputs, results, case.outputs or [])
        if ours is not None and theirs is not None
    ]
    mismatches = [mismatch for mismatch in comparisons if mismatch.differing]
    for mismatch in mismatches:
        print(f"{case.name}: {mismatch}")
    return 1 if mismatches else 0
