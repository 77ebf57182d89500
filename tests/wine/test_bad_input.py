"""What cannot be run is told in one sentence, with exit code 2."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from directml_py.cli import main
from directml_py.wine import loader, prefix
from directml_py.wine.loader import DLLS, environment, overrides

Refused = Callable[..., str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Refused:
    """The sentence with which ``wine`` refuses; Wine and the DLLs are there."""
    fake_wine(tmp_path, monkeypatch, "wine-8.0 (Debian 8.0~repack-4)")
    (tmp_path / "dll").write_bytes(b"directml_py.dll")
    monkeypatch.setattr("directml_py.cli.wine_command.check_library", lambda: None)
    monkeypatch.setattr(prefix, "dll_path", lambda name: tmp_path / "dll")

    def run(*words: str | Path) -> str:
        code = main(["wine", *map(str, words)])
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert err.startswith("wine: ")
        assert err.count("\n") == 1
        return err.removeprefix("wine: ").removesuffix("\n")

    return run


def fake_wine(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str, name: str = "wine") -> Path:
    (folder / "bin").mkdir(exist_ok=True)
    script = folder / "bin" / name
    script.write_text(f"#!/bin/sh\necho '{version}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.delenv("WINELOADER", raising=False)
    monkeypatch.setattr(loader, "DEBIAN_FOLDER", "/nowhere")
    return script


def pe(machine: int, characteristics: int = 0x22, offset: int = 0x80) -> bytes:
    """The headers of a PE file, as far as machine and characteristics need them."""
    dos = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", offset)
    return (
        dos.ljust(offset, b"\0")
        + b"PE\0\0"
        + struct.pack("<HHIIIHH", machine, 0, 0, 0, 0, 240, characteristics)
    )


def fake_prefix(folder: Path, arch: str = "win64") -> Path:
    """A folder that has what tells a prefix."""
    made = folder / "fake prefix"
    (made / prefix.SYSTEM32).mkdir(parents=True)
    (made / "system.reg").write_text(f"WINE REGISTRY Version 2\n\n#arch={arch}\n")
    return made


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (pe(0x014C), "a 32-bit program"),
        (pe(0xAA64), "a program for ARM64"),
        (pe(0x01C4), "a program for ARM"),
        (pe(0x8664, 0x2022), "a DLL"),
        # Beyond the first page, as after a large program of DOS.
        (pe(0xAA64, offset=70000), "a program for ARM64"),
        (pe(0x0200), "no Windows program"),
        (pe(0x8664)[:0x90], "no Windows program"),
        (b"MZ", "no Windows program"),
        (b"MZ".ljust(0x40, b"\xff"), "no Windows program"),
        (b"", "no Windows program"),
        (b"#!/bin/sh\n", "no Windows program"),
        (b"\x7fELF".ljust(200, b"\0"), "no Windows program"),
    ],
)
def test_files_that_are_no_program_for_it(
    refused: Refused, tmp_path: Path, content: bytes, what: str
) -> None:
    path = tmp_path / "program.exe"
    path.write_bytes(content)
    assert refused(path) == f"{path} is {what}; Windows programs (.exe) for x86-64 can be run"


def test_paths_without_a_file(refused: Refused, tmp_path: Path) -> None:
    assert refused(tmp_path / "none.exe") == f"{tmp_path}/none.exe: No such file or directory"
    assert refused(tmp_path) == f"{tmp_path}: Is a directory"


@pytest.fixture
def valid(tmp_path: Path) -> Path:
    path = tmp_path / "valid.exe"
    path.write_bytes(pe(0x8664))
    return path


def test_no_wine(refused: Refused, valid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert refused(valid) == "there is no Wine; install it (Debian: apt-get install wine64)"
    monkeypatch.setenv("WINELOADER", "")
    assert refused(valid) == "there is no Wine; install it (Debian: apt-get install wine64)"
    monkeypatch.setenv("WINELOADER", "/nowhere/wine")
    assert refused(valid) == (
        "$WINELOADER is /nowhere/wine, which is not a program; unset it, or let it name Wine's loader"
    )


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("wine-7.22", "is Wine 7; Windows programs need Wine 8 or newer"),
        ("wine-1.9.6-rc1 (Staging)", "is Wine 1; Windows programs need Wine 8 or newer"),
        ("hello", "does not say its version as Wine does"),
        ("", "does not say its version as Wine does"),
    ],
)
def test_a_wine_that_is_too_old_or_none(
    refused: Refused, valid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, why: str
) -> None:
    script = fake_wine(tmp_path, monkeypatch, version)
    assert refused(valid) == f"{script} {why}"


@pytest.mark.parametrize(
    ("version", "major"), [("wine-8.0", 8), ("wine-10.0-rc3", 10), ("wine-9.21 (Staging)", 9)]
)
def test_versions_that_are_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, major: int
) -> None:
    script = fake_wine(tmp_path, monkeypatch, version, "wine64")
    assert loader.version_of(str(script)) == major
    assert loader.find_loader() == str(script)


def test_the_dlls_were_not_built(
    valid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loader, "LIBRARIES", tmp_path)
    assert main(["wine", str(valid)]) == 2
    assert "gcc-mingw-w64-x86-64" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["--install", "--uninstall"])
def test_prefixes_that_are_none(refused: Refused, tmp_path: Path, action: str) -> None:
    assert refused(action, tmp_path) == f"{tmp_path} is not a Wine prefix"
    assert refused(action, tmp_path / "none") == f"{tmp_path}/none is not a Wine prefix"


@pytest.mark.parametrize("action", ["--install", "--uninstall"])
def test_a_32_bit_prefix(refused: Refused, tmp_path: Path, action: str) -> None:
    made = fake_prefix(tmp_path, "win32")
    assert refused(action, made) == (
        f"{made} is a 32-bit Wine prefix; Windows programs for x86-64 need a 64-bit one"
    )
    assert not list((made / prefix.SYSTEM32).iterdir())


def test_somebody_elses_prefix(
    refused: Refused, valid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fake_prefix(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: made.stat().st_uid + 1)
    sentence = f"the Wine prefix {made} belongs to another user"
    assert refused("--install", made) == sentence
    assert refused("--prefix", made, valid) == sentence
    assert not list((made / prefix.SYSTEM32).iterdir())


def test_a_cache_that_cannot_be_written(
    refused: Refused, valid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(valid / "cache"))
    assert refused(valid) == (
        f"cannot create the Wine prefix {valid}/cache/directml-py/wine: Not a directory"
    )


def test_a_creation_that_fails_leaves_nothing(
    refused: Refused,
    valid: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = fake_wine(tmp_path, monkeypatch, "wine-8.0")
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && echo wine-8.0 || exit 3\n')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["wine", str(valid)]) == 2
    made = tmp_path / "cache" / "directml-py" / "wine"
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"wine: wineboot --init failed with exit code 3 in the Wine prefix {made}"
    )
    assert not made.exists()


def test_an_install_that_fails_half_way_is_undone(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fake_prefix(tmp_path)
    for name in DLLS:
        (made / prefix.SYSTEM32 / f"{name}.dll").write_text(name)
    missing = tmp_path / "missing"
    monkeypatch.setattr(prefix, "dll_path", lambda name: missing if name == DLLS[-1] else tmp_path / "dll")
    assert refused("--install", made) == f"cannot install into {made}: No such file or directory"
    found = {path.name: path.read_text() for path in (made / prefix.SYSTEM32).iterdir()}
    assert found == {f"{name}.dll": name for name in DLLS}
    assert not (made / prefix.MARKER).exists()


def test_nothing_to_do(refused: Refused) -> None:
    assert refused() == "give a program, --install PREFIX, --uninstall PREFIX or --environment"


def test_the_users_overrides_stay(tmp_path: Path) -> None:
    found = overrides("d3d12,mscoree=b;DirectML=n;quartz=n,b;dxgi=").split(";")
    assert {"d3d12=n", "directml=b", "*directml=b", "dxgi=n", "mscoree=b", "quartz=n,b"} <= set(found)
    assert not {"d3d12=b", "DirectML=n", "dxgi="} & set(found)
    variables = environment(tmp_path, {"WINEDLLPATH": "/a:/b", "WINEDEBUG": "+seh"})
    assert variables["WINEDLLPATH"] == f"{loader.LIBRARIES}:/a:/b"
    assert (variables["WINEDEBUG"], variables["WINEPREFIX"]) == ("+seh", str(tmp_path))
