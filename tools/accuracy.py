"""Measure the errors of the functions of ELEMENT_WISE_* and ACTIVATION_* in ULP, over all magnitudes.

    python tools/accuracy.py
    python tools/accuracy.py --only SIN COS ACTIVATION_GELU --dtype float32 --samples 4096

An operator's results from ``directml_py.evaluate`` are compared with the reference of its record
(``tests/operators/records``): its formula in FLOAT64, rounded to FLOAT32 after each operation. Each row has the largest
error in units in the last place from the nearest float, the error bound of the record, and the share of results that
are not correctly rounded. The exit code is 1 if an error exceeds its bound. All 65,536 inputs of FLOAT16 are tried; for
FLOAT32, and for operators of two inputs, every exponent with ``--samples`` mantissas, and the neighbourhoods of points
where a function changes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "tests"))

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.operators import SCHEMAS
from directml_py.testing.ulps import NOWHERE_NEAR, ulps_apart
from directml_py.validation.support_tables import support_of

# Not by import statements: these modules have no annotations to check.
_records: Any = import_module("tests.operators.records")
_record: Any = import_module("tests.operators.records.record")
magnitudes: Any = import_module("tests.operators.records.magnitudes")

Array = npt.NDArray[Any]
RECORDS: Mapping[str, Any] = _records.RECORDS
DATA_TYPES = {
    "float16": dml.DML_TENSOR_DATA_TYPE_FLOAT16,
    "float32": dml.DML_TENSOR_DATA_TYPE_FLOAT32,
}
FAMILIES = ("ELEMENT_WISE_", "ACTIVATION_")
# The unit in the last place of subnormal FLOAT32.
SMALLEST = 2.0**-149


def is_measured(operator: str) -> bool:
    """Whether every tensor of an operator of elements may be FLOAT32, except for bit operations."""
    schema = SCHEMAS[operator]
    if not operator.startswith(FAMILIES) or "_BIT_" in operator:
        return False
    tensors = support_of(schema)[0].tensors
    return all(
        dml.DML_TENSOR_DATA_TYPE_FLOAT32 in tensors[entry.name].types for entry in schema.struct.tensors
    )


FUNCTIONS = sorted(filter(is_measured, SCHEMAS))
NAME_WIDTH = max(map(len, FUNCTIONS))


class Errors(NamedTuple):
    """``ulps``: the largest error; ``off``: how many of ``total`` results are not correctly rounded.

    ``where`` has the inputs with the largest error; it is empty if that is 0.
    """

    total: int
    off: int
    ulps: int
    where: str


def errors(
    results: Array, wanted: Array, inputs: Sequence[Array], text: str = "", granted: float | Array = 0.0
) -> Errors:
    """The errors of ``results`` against the reference ``wanted``; ``inputs`` and ``text`` describe where.

    The ULP that fit into ``granted``, an absolute error, are not counted.
    """
    with np.errstate(all="ignore"):
        nearest = wanted.astype(results.dtype)
        free = np.nan_to_num(np.floor(granted / np.spacing(np.abs(nearest)).astype(np.float64)))
    ulps_of_results = ulps_apart(results, nearest)
    ulps_of_results -= np.minimum(ulps_of_results, free.astype(np.uint64))
    index = np.unravel_index(int(np.argmax(ulps_of_results)), ulps_of_results.shape)
    ulps = int(ulps_of_results[index])
    operands = ", ".join([*(spelled(x, index) for x in inputs), *([text] if text else [])])
    where = f"{results[index]!s} for {operands}; {wanted[index]:.10g} is right" if ulps else ""
    return Errors(results.size, int(np.count_nonzero(ulps_of_results)), ulps, where)


def spelled(x: Array, index: Any) -> str:
    """The input number for the result at ``index``; for a matrix the whole row."""
    return str(x[index]) if x.ndim == 1 else f"{x[index[0]].tolist()}[{index[1]}]"


def measured(
    operator: str, dtype: np.dtype[Any], density: int, inputs: Sequence[Array] | None = None
) -> Errors:
    """The errors of an operator as run by ``evaluate``, over all attributes of its record; of its samples or
    ``inputs``."""
    record = RECORDS[operator]
    if inputs is None:
        inputs = sampler(operator)(dtype, density)
    every = []
    for attributes in record.attributes:
        desc = desc_of(operator, inputs[0], attributes)
        exact = [_record.exactly(x) for x in inputs]
        with np.errstate(all="ignore"):
            wanted = np.asarray(record.reference(desc, *exact))
            factor = np.asarray(record.factor(desc, *exact), np.float64)
        (results,) = dml.evaluate(desc, inputs)
        text = ", ".join(f"{name} {value}" for name, value in attributes.items())
        every.append(errors(results, wanted, inputs, text, np.abs(factor) * SMALLEST))
    worst = max(every, key=lambda each: each.ulps)
    return Errors(sum(each.total for each in every), sum(each.off for each in every), worst.ulps, worst.where)


def sampler(operator: str) -> Callable[[np.dtype[Any], int], list[Array]]:
    """Of the record, or of as many arrays as there are inputs."""
    count = sum(entry.role == "input" for entry in SCHEMAS[operator].struct.tensors)
    chosen: Any = RECORDS[operator].magnitudes or (magnitudes.single if count == 1 else magnitudes.pairs)
    found: Callable[[np.dtype[Any], int], list[Array]] = chosen
    return found


def desc_of(operator: str, x: Array, attributes: Mapping[str, Any]) -> OperatorDesc:
    """The operator on tensors with the type and layout of ``x``. Limits may be unions of that type."""
    schema = SCHEMAS[operator].struct
    fields: dict[str, Any] = {
        entry.name: dml.tensor_desc(DATA_TYPES[x.dtype.name], x.shape) for entry in schema.tensors
    }
    fields.update(attributes)
    if "MinMaxDataType" in schema.index:
        for name in ("Min", "Max"):
            encoding = x.dtype.type(attributes[name]).tobytes().ljust(8, b"\0")
            fields[name] = dml.DML_SCALAR_UNION.from_buffer_copy(encoding)
        fields["MinMaxDataType"] = DATA_TYPES[x.dtype.name]
    missing = [
        entry.name
        for entry in schema.fields
        if entry.type in ("FLOAT", "DML_SCALAR_UNION") and entry.name not in fields
    ]
    if missing:
        raise ValueError(f"the record of {operator} has no attributes to measure with: {', '.join(missing)}")
    make: Callable[..., Any] = getattr(dml, f"DML_{operator}_OPERATOR_DESC")
    desc: OperatorDesc = decode_operator_desc(make(**fields)).desc
    return desc


def tolerance(operator: str, dtype: np.dtype[Any]) -> int:
    bound: int = RECORDS[operator].ulps.get(dtype.name, 0)
    return bound


def operators(names: Sequence[str]) -> list[str]:
    """The operators with one of the names, with or without the family. Raises ``ValueError`` for an unknown name."""
    unknown = [name for name in names if not any(name in spellings(operator) for operator in FUNCTIONS)]
    if unknown:
        raise ValueError(f"no function is called {', '.join(unknown)}")
    return [
        function for function in FUNCTIONS if not names or any(name in spellings(function) for name in names)
    ]


def spellings(operator: str) -> set[str]:
    return {operator, *(operator.removeprefix(family) for family in FAMILIES)}


def density(text: str) -> int:
    """The number of mantissas, at least 2: the first and the last."""
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text} is less than 2")
    return value


def table(chosen: Sequence[str], dtype: np.dtype[Any], samples: int) -> int:
    """Print a row for each operator; returns how many exceed their error bound."""
    too_far = 0
    print(f"{dtype.name.upper():{NAME_WIDTH}}    ULP   may be    results   not nearest   worst")
    for operator in chosen:
        errors, limit = measured(operator, dtype, samples), tolerance(operator, dtype)
        too_far += errors.ulps > limit
        ulps = "NaN" if errors.ulps == NOWHERE_NEAR else f"{errors.ulps:,}"
        where = f"TOO FAR: {errors.where}" if errors.ulps > limit else errors.where
        share = errors.off / errors.total
        row = f"{operator:{NAME_WIDTH}} {ulps:>6} {limit:>8} {errors.total:>10,} {share:>13.4%}   {where}"
        print(row.rstrip(), flush=True)
    return too_far


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only operators of these names")
    parser.add_argument(
        "--samples",
        type=density,
        default=64,
        metavar="N",
        help="mantissas per exponent (default: %(default)s)",
    )
    parser.add_argument("--dtype", choices=sorted(DATA_TYPES), help="default: all")
    arguments = parser.parse_args(argv)
    try:
        chosen = operators(arguments.only)
    except ValueError as error:
        parser.error(str(error))
    too_far = sum(
        table(chosen, np.dtype(name), arguments.samples)
        for name in DATA_TYPES
        if arguments.dtype in (None, name)
    )
    if too_far:
        print(f"{too_far} exceed their error bound")
    return 1 if too_far else 0


if __name__ == "__main__":
    sys.exit(main())
