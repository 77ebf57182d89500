"""Random root signatures have the bytes that Wine's own d3d12.dll, an independent program, gives them."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from toolchain import missing

import directml_py as dml
from directml_py.wine.loader import WineError, find_loader
from directml_py.wine.prefix import default_prefix

from . import root_signature_cases as cases

COMPILER = "x86_64-w64-mingw32-gcc"
SOURCE = Path(__file__).with_name("reserialize.c")
COUNT = 300
TABLE, CONSTANTS = 0, 1
DESCRIPTOR_FLAGS = (0, 2, 4, 8)


@pytest.fixture(scope="module")
def wine() -> str:
    if shutil.which(COMPILER) is None:
        missing(COMPILER)
    try:
        return find_loader()
    except WineError as error:
        missing(str(error))
        raise


def some_range(chance, newer, is_sampler, space, index):
    """Registers of every index and space are its own."""
    kind = cases.SAMPLER if is_sampler else chance.choice((cases.SRV, cases.UAV, cases.CBV))
    first = (kind, chance.choice((1, 2, 7)), 10 * index, space)
    offset = chance.choice((cases.APPEND, 0, 5))
    if not newer:
        return cases.range0(*first, offset)
    return cases.range1(*first, chance.choice((0, 1) if is_sampler else (0, 1, 2, 3, 4, 5, 8)), offset)


def some_parameter(chance, newer, index):
    made = dml.CD3DX12_ROOT_PARAMETER1() if newer else dml.CD3DX12_ROOT_PARAMETER()
    visibility = chance.choice((0, 0, 1, 5))
    kind = chance.randrange(5)
    if kind == TABLE:
        is_sampler = chance.random() < 0.3
        count = chance.randrange(1, 4)
        ranges = [some_range(chance, newer, is_sampler, index, number) for number in range(count)]
        made.InitAsDescriptorTable(ranges, None, visibility)
    elif kind == CONSTANTS:
        made.InitAsConstants(chance.randrange(1, 6), 3, index, visibility)
    else:
        views = (made.InitAsConstantBufferView, made.InitAsShaderResourceView, made.InitAsUnorderedAccessView)
        flags = (chance.choice(DESCRIPTOR_FLAGS),) if newer else ()
        views[kind - 2](1000, index, *flags, visibility)
    return made


def some_root_signature(chance):
    newer = chance.random() < 0.5
    parameters = [some_parameter(chance, newer, index) for index in range(chance.randrange(8))]
    samplers = [
        dml.CD3DX12_STATIC_SAMPLER_DESC(
            index, chance.choice((0, 21, 85, 149)), mipLODBias=index, registerSpace=77
        )
        for index in range(chance.randrange(3))
    ]
    return (cases.v1_1 if newer else cases.v1_0)(parameters, samplers, chance.choice((0, 1, 0x3E)))


@pytest.mark.slow
def test_bytes_agree(wine, tmp_path):
    chance = random.Random(48)
    all_bytes, expected = [], []
    for _ in range(COUNT):
        data = bytes(dml.D3D12SerializeVersionedRootSignature(some_root_signature(chance)))
        older = dml.D3D12CreateRootSignatureDeserializer(data).GetRootSignatureDesc()
        all_bytes.append(struct.pack("<I", len(data)) + data)
        expected += [data.hex(), bytes(dml.D3D12SerializeRootSignature(older, 1)).hex()]
    (tmp_path / "signatures").write_bytes(b"".join(all_bytes))
    command = [COMPILER, "-Wall", "-Werror", str(SOURCE), "-o", str(tmp_path / "reserialize.exe"), "-ld3d12"]
    subprocess.run(command, check=True)
    # Wine's own DLL: that of this package is the native one in the prefix.
    environment = {
        **os.environ,
        "WINEPREFIX": str(default_prefix(wine)),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "d3d12=b;mscoree,mshtml=",
    }
    run = subprocess.run(
        [wine, "reserialize.exe", "signatures"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.stdout.split() == expected
