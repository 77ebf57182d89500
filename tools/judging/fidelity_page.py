"""Generator of ``docs/inside/fidelity.md``: the emulator's fidelity, by the last run of the judge."""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from directml_py import __version__
from directml_py.abi.rules import LIBRARY, Rule
from directml_py.operators import SCHEMAS, every_rule
from directml_py.text.plural import counted_words

from .disagreements import CRASHES, STRICTER, JudgingRun
from .evidence import evidence, informative, webnn_figures
from .wheel import PACKAGE

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "inside" / "fidelity.md"

TEXT = """\
<!-- Written by tools/judge.py --page. -->

# Fidelity: compared with Microsoft's library

This package is compared with Microsoft's own DirectML. The torch-directml wheel on PyPI contains that library for
Linux, with feature levels up to 6.2; on the emulated Direct3D 12 device it tells whether it accepts a given desc. What
the library refuses is refused here too, by a rule whose source is `{library}` if no page of the documentation states
it. What a page forbids but the library accepts executes here as well, with a warning; `validate(desc, strict=True)`,
`pytest --dml-strict` and the profiles `strict` and `demanding` turn the warning into an error. The library's results
were recorded on a software Direct3D 12 device, and this package's results equal them within the tolerances below; a
test runs all recorded cases.

<!-- not run: fetches the library with pip, and takes a million descs -->
```sh
nox -s judge
```

You can do the same with a library of your own and, on WSL or on Windows, also compare the results of a GPU:

<!-- not run: the paths are yours -->
```sh
python -m directml_py compare FILE --directml PATH --d3d12 PATH --save disagreements.jsonl
```

## The last run

{date}, directml-py {version}, `{package}`, at feature level 6.2.

| Descs | Judged | The same verdict | Stricter here, listed | Crashed there | Not listed |
| --- | --- | --- | --- | --- | --- |
{streams}

`valid` are descs that this package's generator considers valid; `mutations` are such descs with one field changed,
unfiltered; `graphs` are graphs of up to four operators, most of them valid, given to CompileGraph; `calls` are
dispatches whose bindings share memory at random, with a wrong binding in some, and queries of interfaces; `tables` are
all data types and dimension counts of one tensor, or of all tensors, of each operator.

## Where this package is stricter

{stricter}

Some descs crash the library's process: {crashes}. Here such descs are either refused or executed.

## Rules that no page states

{learnt}

## What a page forbids and the library accepts

{page_only}

## By operator

*Informative* are the recorded cases with a result of more than two different values; what compares, counts or selects
has few of them by nature. What else holds the operator:

- *ONNX Runtime* or a *formula*, in FLOAT64 or in integers, computes the results of random valid descs, independently
  of this package;
- *page*: examples that the operator's page prints, or that were computed by hand;
- *ONNX*: node tests of ONNX in whose graphs the operator is;
- *WebNN*: conformance cases of WebNN, below, in whose graphs it is and that agree.

Whole models and [PyTorch's operators](../pytorch.md) run on these operators too, and are compared with the CPU.

*Within* is the tolerance between a recorded result and ours. Of functions it is the error of FLOAT32 that follows from
how the software device computes them: y is the element, and FLOAT16 results are within 1 ULP. *ULP of the largest* are
those of the largest element, for sums; 0 means the same bits. Those of functions hold for every argument, not for the
recorded ones alone: `tests/operators/records` says where each comes from, and `tests/fidelity/test_tolerances.py`
holds it against the device's formula.

| Operator | Descs judged | Stricter here | Recorded cases | Informative | Held by | Within |
| --- | --- | --- | --- | --- | --- | --- |
{operators}

## WebNN's conformance cases

web-platform-tests has cases for every operator of WebNN, whose Windows implementation was built on DirectML. A tool
lowers them to graphs and compares the results within the tolerances of these tests; it reads the JavaScript of today
and the JSON of 2024. The last run, over public copies of both, each case once:

| Cases | Agree | Differ | Wrong case | Not lowered | Not read |
| --- | --- | --- | --- | --- | --- |
{webnn}

A *wrong case* expects a value that is further from the exact one than the tolerance is wide, or the difference of large
numbers of which FLOAT32 leaves few digits; the tool lists them, with reasons. *Not lowered* are mainly operators in an
older form, and constants. *Not read* are cases whose NaN or infinity a conversion to JSON lost.

<!-- not run: fetches web-platform-tests -->
```sh
git clone --depth 1 --filter=blob:none --sparse https://github.com/web-platform-tests/wpt
git -C wpt sparse-checkout set webnn
nox -s webnn -- wpt/webnn/conformance_tests
```

## What is unknown

- Feature levels above 6.2, which the library does not have, and lower ones, to which it cannot be limited. For these
  this package follows the documentation, and what was learnt about the older operators.
- GPUs: the results were recorded on a software device. What is clearly specific to that device is not followed:
{device}
- Windows and WSL: `directml_py.hardware` was tried only with a DirectML that runs on the emulated device; the code that
  drives a real Direct3D 12 follows the documentation.
"""


def write(run: JudgingRun) -> None:
    """Write the page from the figures of ``run``, the tables of tolerances and the rules."""
    sys.path.insert(0, str(ROOT))
    from tests.fidelity.recorded import SOFTWARE_DEVICE, cases

    recorded = Counter(case.desc.name for case in cases())
    telling, held = informative(), evidence()
    within = tolerances()
    rules = every_rule()
    rows = [
        f"| {name} | {run.judged[name]} | {run.listed[name] or ''} | {recorded[name] or ''} | "
        f"{telling[name] or ''} | {held[name]} | {within[name] if recorded[name] else ''} |"
        for name in sorted(SCHEMAS)
        if run.judged[name]
    ]
    reasons = Counter(SOFTWARE_DEVICE.values())
    text = TEXT.format(
        library=LIBRARY,
        date=datetime.date.today().isoformat(),
        version=__version__,
        package=PACKAGE,
        streams="\n".join(_stream(run, stream) for stream in run.descs),
        stricter=_table("Rule", "Why", STRICTER.items()),
        crashes="; ".join(f"{name}, {why}" for name, why in CRASHES.items()),
        learnt=_rules(rule for rule in rules if rule.source == LIBRARY),
        page_only=_rules(rule for rule in rules if rule.page_only),
        operators="\n".join(rows),
        webnn=_webnn(),
        device="\n".join(
            f"  - {why} ({counted_words(count, 'case')});" for why, count in sorted(reasons.items())
        ),
    )
    PAGE.write_text(text, encoding="utf-8")


def _stream(run: JudgingRun, stream: str) -> str:
    kinds, judged = run.kinds[stream], run.descs[stream]
    apart = sum(kinds.values())
    unlisted = apart - kinds["stricter"] - kinds["crash"]
    return f"| {stream} | {judged} | {judged - apart} | {kinds['stricter']} | {kinds['crash']} | {unlisted} |"


def tolerances() -> dict[str, str]:
    """Those of the operators, in words."""
    # Not by an import statement: these modules have no annotations to check.
    records: Any = import_module("tests.operators.records")
    return {name: record.library.text for name, record in records.RECORDS.items()}


def _webnn() -> str:
    counts = webnn_figures()["verdicts"]
    return f"| {sum(counts.values())} | {' | '.join(map(str, counts.values()))} |"


def _rules(rules: Iterable[Rule]) -> str:
    return _table("Rule", "What it says", ((rule.id, rule.text) for rule in rules))


def _table(heading: str, text_heading: str, entries: Iterable[tuple[str, str]]) -> str:
    rows = [f"| `{key}` | {text.replace('|', chr(92) + '|')} |" for key, text in sorted(entries)]
    return "\n".join([f"| {heading} | {text_heading} |", "| --- | --- |", *rows])
