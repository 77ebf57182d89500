"""Which dispatches are long enough that an interrupt does not wait for them."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.kernels.backend import backend
from directml_py.operators.program import is_long, products

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def tensor(*sizes):
    return dml.tensor_desc(FLOAT32, list(sizes))


def attention(queries, past, heads=12, size=64):
    new, old = tensor(2, queries, heads * size), tensor(2, heads, past, size)
    present = tensor(2, heads, past + queries, size)
    return decode_operator_desc(
        dml.DML_MULTIHEAD_ATTENTION_OPERATOR_DESC(
            QueryTensor=new,
            KeyTensor=new,
            ValueTensor=new,
            PastKeyTensor=old,
            PastValueTensor=old,
            OutputTensor=new,
            OutputPresentKeyTensor=present,
            OutputPresentValueTensor=present,
            Scale=0.125,
            HeadCount=heads,
            MaskType=dml.DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE,
        )
    ).desc


def test_products_of_attention():
    """Each of 2 x 12 heads has 3 x 103 scores, which take 64 products each, and weigh 64 numbers each."""
    assert products(attention(3, 100)) == 2 * 12 * 3 * 103 * (64 + 64)


@pytest.mark.parametrize(("queries", "past", "expected"), [(1, 4000, False), (1000, 1000, True)])
def test_long_attention(queries, past, expected):
    assert is_long([attention(queries, past)]) is expected


@pytest.mark.parametrize(("exponent", "has_kernels"), [(29, True), (26, False)])
def test_operators_that_last_30_ms(monkeypatch, exponent, has_kernels):
    """Of a graph, each operator counts for itself: native kernels handle interrupts between them."""
    monkeypatch.setattr(backend, "native", object() if has_kernels else None)

    def product(columns):
        sizes = [(256, 1 << exponent - 16), (1 << exponent - 16, columns), (256, columns)]
        a, b, out = (tensor(1, 1, *size) for size in sizes)
        return decode_operator_desc(dml.DML_GEMM_OPERATOR_DESC(a, b, None, out, Alpha=1.0)).desc

    assert not is_long([product(256)] * 100)
    assert is_long([product(2), product(257)])


def test_products_of_matrices():
    desc = dml.DML_GEMM_OPERATOR_DESC(
        tensor(1, 1, 30, 50), tensor(1, 1, 50, 70), None, tensor(1, 1, 30, 70), Alpha=1.0
    )
    assert products(decode_operator_desc(desc).desc) == 30 * 50 * 70
