"""What continuous integration runs, by name: ``nox -s tests``, ``nox -s slow``, ``nox -s lint``, ``nox -s docs``.

The sessions use the environment that nox itself runs in, which ``pip install -e '.[dev]'`` fills: one of their own
would build the package's C code once more for each.
"""

from __future__ import annotations

import sys

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
    """Sanitizers, valgrind, every compiler and standard, wheels, the suite with the other loops, long runs."""
    session.run(sys.executable, *PYTEST, "-m", "slow", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Whether generated files are what the catalog says, style, and types."""
    session.run(sys.executable, "tools/generate.py", "--check")
    session.run(sys.executable, "-m", "ruff", "check")
    session.run(sys.executable, "-m", "ruff", "format", "--check")
    session.run(sys.executable, "-m", "mypy", "--strict")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation (extra ``docs``) in build/docs; warnings are errors."""
    session.run(
        sys.executable,
        *("-m", "sphinx", "-b", "html", "-W", "--keep-going", "-j", "auto", "docs", "build/docs"),
        *session.posargs,
    )
