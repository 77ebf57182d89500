"""How long dispatches took, in DxDispatch's lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def timing_lines(name: str, samples: Sequence[float], warmup: int, verbosity: int) -> Iterator[str]:
    """The lines about ``samples`` (milliseconds), of which the first ``warmup`` are cold; one at least is hot."""
    if not samples:
        return
    cold = min(len(samples) - 1, warmup)
    if verbosity == 0:
        median = _median(samples[cold:])
        yield f"Dispatch '{name}': {len(samples)} iterations, {median:.4f} ms median (CPU)"
        return
    yield f"Dispatch '{name}': {len(samples)} iterations"
    if cold:
        yield f"CPU Timings (Cold) : {_statistics(samples[:cold])}"
    yield f"CPU Timings (Hot)  : {_statistics(samples[cold:])}"
    if verbosity > 1:
        yield "The timings of each iteration: "
        for index, sample in enumerate(samples):
            yield f"iteration {index}: {sample:.4f} ms (CPU)"


def _median(samples: Sequence[float]) -> float:
    return sorted(samples)[len(samples) // 2]


def _statistics(samples: Sequence[float]) -> str:
    return (
        f"{len(samples)} samples, {sum(samples) / len(samples):.4f} ms average, {min(samples):.4f} ms min, "
        f"{_median(samples):.4f} ms median, {max(samples):.4f} ms max"
    )
