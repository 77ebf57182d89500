"""The jobs of continuous integration, by name: ``nox -s tests``, ``nox -s slow``, ``nox -s lint``, ``nox -s docs``.

The sessions use the environment that nox itself runs in, as set up by ``pip install -e '.[dev]'``: sessions with
environments of their own would each build the package's C code again.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "tests"]

PYTEST = ("-m", "pytest", "-n", "auto", "--dist", "loadfile")


@nox.session
def tests(session: nox.Session) -> None:
    """The README's second command."""
    session.run(sys.executable, *PYTEST, *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Sanitizers, valgrind, every compiler and standard, wheels, long runs."""
    session.run(sys.executable, *PYTEST, "-m", "slow", *session.posargs)


@nox.session
def numpy(session: nox.Session) -> None:
    """The suite where NumPy computes everything, as without a compiler."""
    session.run(sys.executable, *PYTEST, *session.posargs, env={"DIRECTML_PY_KERNELS": "numpy"})


@nox.session
def lint(session: nox.Session) -> None:
    """Checks that generated files are up to date, style, and types."""
    session.run(sys.executable, "tools/generate.py", "--check")
    session.run(sys.executable, "-m", "ruff", "check")
    session.run(sys.executable, "-m", "ruff", "format", "--check")
    session.run(sys.executable, "-m", "mypy", "--strict")


@nox.session
def judge(session: nox.Session) -> None:
    """A million descs compared with Microsoft's own library, which pip fetches into the user's cache."""
    session.run(sys.executable, "tools/judge.py", *session.posargs)


@nox.session
def webnn(session: nox.Session) -> None:
    """WebNN's conformance cases, of the folders that are given: ``nox -s webnn -- wpt/webnn/conformance_tests``."""
    session.run(sys.executable, "tools/judge_webnn.py", *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """mutmut (extra ``mutation``): ``nox -s mutation -- directml_py/dml/bindings.py tests/dml tests/d3d12``.

    Changes functions of the module in one place at a time, and names the changes that none of the tests given notices.
    Such a change is code without a test, or no change in behavior; ``mutmut show NAME``, in the folder that the session
    prints, shows it.
    """
    module, *tests = session.posargs
    folder = Path(session.create_tmp()).resolve()
    copied = [
        "include",
        "tools",
        "tests",
        "docs",
        "noxfile.py",
        "pyproject.toml",
        *map(str, Path().glob("*.md")),
    ]
    for name in ("directml_py", *copied):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(Path.cwd() / name)
    options = {
        "source_paths": ["directml_py"],
        "only_mutate": [module],
        "also_copy": copied,
        "pytest_add_cli_args_test_selection": tests,
    }
    lines = ("[mutmut]", *(f"{name} = " + "\n    ".join(values) for name, values in options.items()))
    (folder / "setup.cfg").write_text("\n".join(lines) + "\n", encoding="utf-8")
    # It is there before Python starts, which does not look again for a missing folder of its path.
    (folder / "mutants").mkdir(exist_ok=True)
    names = module.removesuffix(".py").replace("/", ".") + ".*"
    with session.chdir(folder):
        # Processes that tests start import the mutated copy too.
        path = {"PYTHONPATH": str(folder / "mutants")}
        session.run(sys.executable, "-m", "mutmut", "run", names, env=path)
        session.run(sys.executable, "-m", "mutmut", "results")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation (extra ``docs``) in build/docs, in a folder of its version; warnings are errors."""
    version = session.run(
        sys.executable, "-c", "import directml_py; print(directml_py.__version__)", silent=True
    ).strip()
    session.run(
        sys.executable,
        *("-m", "sphinx", "-b", "html", "-W", "--keep-going", "-j", "auto", "docs", f"build/docs/{version}"),
        *session.posargs,
    )


@nox.session
def links(session: nox.Session) -> None:
    """Follows the documentation's links to other sites, for which it needs a network."""
    options = ("-b", "linkcheck", "-q", "-D", "nb_execution_mode=off")
    session.run(sys.executable, "-m", "sphinx", *options, "docs", "build/links", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """The source distribution, the wheel that it builds, and a test of that wheel in an environment of its own."""
    folder = Path(session.create_tmp()).resolve()
    dist, environment = folder / "dist", folder / "environment"
    shutil.rmtree(dist, ignore_errors=True)
    session.run(sys.executable, "-m", "build", "--outdir", str(dist))
    session.run(sys.executable, "-m", "venv", "--clear", str(environment))
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    (built,) = dist.glob("*.whl")
    with session.chdir(folder):
        session.run(str(programs / "python"), "-m", "pip", "install", "--quiet", str(built), external=True)
        session.run(str(programs / "python"), "-m", "directml_py.samples.hello_directml", external=True)
        session.run(str(programs / "directml-py"), "info", external=True)
