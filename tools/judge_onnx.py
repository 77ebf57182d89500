"""Models of one node beside ONNX Runtime's CPU provider: every operator, version, type, and drawn sizes and attributes.

    python tools/judge_onnx.py                        # a table by operator
    python tools/judge_onnx.py Resize com.microsoft.QGemm --details
    python tools/judge_onnx.py --case "Resize-11: free 3" --print      # the model of a case
    python tools/judge_onnx.py --json OUT             # what does not agree

The cases are drawn from ONNX Runtime's schemas and the types of its kernels, with ONNX's node cases as valid inputs and
attributes; the same seed gives the same cases. What is meant to differ is in ``judging/onnx/expected.toml`` with its
reason, and the exit code is 1 if anything else is not right: a case that ONNX Runtime runs must agree, and one that it
refuses may do anything but raise a foreign exception.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from clients.dml_provider.table import write_page
from judging.onnx import drawn_cases, running, sides
from judging.onnx.expected import EXPECTED, ExpectedReason, reason_of, reasons
from judging.onnx.schemas import SchemaVersion, versions
from judging.onnx.sides import AGREE, REFUSED, THEIRS, THEIRS_CRASHES, SweepVerdict

RIGHT = (AGREE, THEIRS, THEIRS_CRASHES, EXPECTED)
COLUMNS = (*sides.VERDICTS[:1], EXPECTED, *sides.VERDICTS[1:])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="names, with com.microsoft's domain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", action="append", default=[], help="only cases with this in their titles")
    parser.add_argument("--print", action="store_true", help="print the models of the cases, and run nothing")
    parser.add_argument("--details", action="store_true", help="print each case that is not right")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the cases that are not right")
    parser.add_argument(
        "--page", type=Path, help="write the figures and reasons into this page, between its markers"
    )
    arguments = parser.parse_args()
    wanted = [version for version in versions() if is_wanted(version, arguments.operators)]
    if arguments.print:
        show_models(wanted, arguments.seed, arguments.case)
        return 0
    found: list[SweepVerdict] = []
    listed = reasons()
    for version in wanted:
        found += judged(version, arguments.seed, arguments.case, listed)
        print(f"\r{len(found)} cases", end="", file=sys.stderr)
    print(file=sys.stderr)
    wrong = [one for one in found if one.verdict not in RIGHT]
    show(found, wrong, arguments.details)
    if arguments.page:
        write_page(arguments.page, figures(found), "judge_onnx.py")
    if arguments.json:
        running.save(arguments.json, wrong)
    return 1 if wrong else 0


def is_wanted(version: SchemaVersion, names: list[str]) -> bool:
    name = f"{version.domain}.{version.name}" if version.domain else version.name
    return not names or name in names


def judged(
    version: SchemaVersion, seed: int, titles: list[str], listed: list[ExpectedReason]
) -> Iterator[SweepVerdict]:
    for one in running.judge(version, seed, titles):
        reason = reason_of(one, listed)
        yield one if reason is None else one._replace(verdict=EXPECTED, why=reason.why)


def figures(found: list[SweepVerdict]) -> str:
    """Markdown: the counts of verdicts, and the reasons with those of their cases."""
    counts = Counter(one.verdict for one in found)
    agreed, listed = counts[AGREE], counts[EXPECTED]
    theirs = counts[THEIRS] + counts[THEIRS_CRASHES]
    lines = [
        "| Nodes that ONNX Runtime runs | Agree | Listed below | Other results | Refused |",
        "| --- | --- | --- | --- | --- |",
    ]
    cells = [len(found) - theirs, agreed, listed, len(found) - theirs - agreed - listed - counts[REFUSED]]
    lines.append(f"| {' | '.join(f'{cell:,}' for cell in (*cells, counts[REFUSED]))} |")
    lines += ["", "| What is refused or differs, and why | Nodes |", "| --- | --- |"]
    reasons_of = Counter(one.why for one in found if one.verdict == EXPECTED)
    lines += [f"| {why} | {count:,} |" for why, count in reasons_of.most_common()]
    return "\n".join(lines)


def show_models(wanted: Iterable[SchemaVersion], seed: int, titles: list[str]) -> None:
    from onnx import printer

    for version in wanted:
        for case in drawn_cases.cases(version, seed):
            if any(title in case.title for title in titles):
                model = sides.model_of(case, case.constants, [None] * sum(case.outputs))
                print(case.title, printer.to_text(model), sep="\n")
                for name, value in zip(sides.names_of(case), case.inputs):
                    if name:
                        print(f"{name} = {value!r}")


def show(found: list[SweepVerdict], wrong: list[SweepVerdict], details: bool) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        counts[one.case.partition("-")[0]][one.verdict] += 1
    print("| Operator | Cases |" + "".join(f" {verdict.capitalize()} |" for verdict in COLUMNS))
    print("| --- " * (2 + len(COLUMNS)) + "|")
    for operator, row in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        cells = [row.total(), *(row[verdict] or "" for verdict in COLUMNS)]
        if operator == "all" or any(row[verdict] for verdict in COLUMNS if verdict not in RIGHT):
            print(f"| {operator} | {' | '.join(map(str, cells))} |")
    if details:
        for one in wrong:
            print(f"{one.case}: {one.verdict}: {one.why}")
        return
    kinds: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in wrong:
        kinds[one.case.partition("-")[0], one.verdict, kind_of(one.why)].append(one.case)
    for (operator, verdict, why), cases in sorted(kinds.items()):
        print(f"{operator}: {verdict}: {why} ({len(cases)}, {cases[0].partition('-')[2]})")


def kind_of(why: str) -> str:
    """A message without its numbers."""
    text = re.sub(r"^node '\w+' \(\w+\): ", "", why)
    if text.startswith("output ") and " elements, at " in text:
        return "values"
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text)[:240]


if __name__ == "__main__":
    sys.exit(main())
