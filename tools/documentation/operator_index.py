"""The list of operators by family, and the page about the C++ examples."""

from __future__ import annotations

from directml_py.operators import SCHEMAS

from .markdown import page, table
from .support_table import level_text

FAMILIES = {
    "element_wise": "Element by element",
    "activation": "Activations",
    "movement": "Movement",
    "indexing": "Indexing",
    "filling": "Constants, sequences and random numbers",
    "reduction": "Reductions",
    "ordering": "Ordering",
    "matrix": "Matrices and attention",
    "window": "Convolutions and pools",
    "sampling": "Resampling",
    "normalization": "Normalizations",
    "recurrent": "Recurrent networks",
    "quantized": "Quantized",
    "training": "Training",
}


def operator_index() -> str:
    """Every operator with a line on what it computes."""
    sections = []
    families = {schema.family for schema in SCHEMAS.values()}
    for family in [*FAMILIES, *sorted(families - set(FAMILIES))]:
        names = sorted(name for name, schema in SCHEMAS.items() if schema.family == family)
        rows = [
            (f"[{name}]({name}.md)", SCHEMAS[name].about, level_text(SCHEMAS[name].level)) for name in names
        ]
        heading = FAMILIES.get(family, family.replace("_", " ").capitalize())
        sections += [f"## {heading}", table(("Operator", "What it computes", "Since"), rows)]
    entries = "\n".join(sorted(SCHEMAS))
    return page(
        "# Operators",
        f"All {len(SCHEMAS)} operators of DirectML, by family. Each page has the struct, what is supported at which "
        "feature level, the rules that descs are checked against, and examples that run. "
        "[One table](../levels.md) shows when each was added.",
        *sections,
        f"```{{toctree}}\n:hidden:\n\ncpp\n{entries}\n```",
    )


CPP = """# C++ examples of operators

The C++ example on each operator's page is a complete program. What all of them have in common is in two headers:
{download}`machine.h <../../directml_py/cpp/machine.h>` has both devices, a queue and a list, and
{download}`run_operator.h <../_static/run_operator.h>` a tensor with its memory and `RunOperator`, which creates,
compiles, initializes and executes an operator and reads back its outputs. They use nothing but DirectML and Direct3D
12, so that the programs are the same on Windows.

On Linux, with the headers beside `example.cpp`:

```text
g++ -std=c++17 example.cpp $(python -m directml_py config --cflags --libs) -o example
./example
```

`Print` shows elements in the order in which they lie in memory, and 4-bit elements as bytes of two.

```{literalinclude} ../_static/run_operator.h
:language: cpp
```

```{literalinclude} ../../directml_py/cpp/machine.h
:language: cpp
```
"""
