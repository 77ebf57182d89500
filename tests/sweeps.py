"""One test for many small cases: a sweep that names the case that fails.

As ``pytest.mark.parametrize``, which makes an item of each: thousands of them take longer to collect than to run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])


def spelled(value: Any) -> str:
    """The name of what has one."""
    name = getattr(value, "name", getattr(value, "__name__", None))
    return name if isinstance(name, str) else repr(value)


def swept(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Decorator: the test is run with each of ``cases``, a value of the parameter or a tuple of those of several.

    Several of them run it with all combinations; the lowest varies fastest. Fixtures are made once for all cases. A
    case may be skipped; if all are, so is the test.
    """
    parameters = [name.strip() for name in names.split(",")]
    every = list(cases)
    assert every

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @wraps(test)
        def sweep(*arguments: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            skipped = []
            for case in every:
                values = (case,) if len(parameters) == 1 else case
                given = dict(zip(parameters, values, strict=True))
                try:
                    test(*arguments, **fixtures, **given)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except Exception as error:
                    told = ", ".join(f"{name}={spelled(value)}" for name, value in given.items())
                    raise AssertionError(f"{told}: {error}") from error
            if len(skipped) == len(every):
                raise skipped[0]

        left = [one for one in signature.parameters.values() if one.name not in parameters]
        assert len(left) == len(signature.parameters) - len(parameters), (
            f"{test.__name__} has not all of {names}"
        )
        sweep.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return sweep  # type: ignore[return-value]

    return decorate
