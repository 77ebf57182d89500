"""Dispatch timings, formatted as DxDispatch's log lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Samples(NamedTuple):
    """The duration of each iteration in milliseconds, on the CPU and on the GPU."""

    cpu: list[float]
    gpu: list[float]


def timing_lines(name: str, samples: Samples, warmup: int, verbosity: int) -> Iterator[str]:
    """The log lines for ``samples``; the first ``warmup`` are cold, except that at least one is hot."""
    count = len(samples.cpu)
    if not count:
        return
    cold = min(count - 1, warmup)
    if verbosity == 0:
        cpu, gpu = _median(samples.cpu[cold:]), _median(samples.gpu[cold:])
        yield f"Dispatch '{name}': {count} iterations, {cpu:.4f} ms median (CPU), {gpu:.6f} ms median (GPU)"
        return
    yield f"Dispatch '{name}': {count} iterations"
    for title, phase in (("(Cold) ", slice(cold)), ("(Hot)  ", slice(cold, None))):
        for processor, times in (("CPU", samples.cpu[phase]), ("GPU", samples.gpu[phase])):
            if times:
                yield f"{processor} Timings {title}: {_statistics(times)}"
    if verbosity > 1:
        yield "The timings of each iteration: "
        for index, (cpu, gpu) in enumerate(zip(*samples)):
            yield f"iteration {index}: {cpu:.4f} ms (CPU), {gpu:.4f} ms (GPU)"


def _median(samples: Sequence[float]) -> float:
    return sorted(samples)[len(samples) // 2]


def _statistics(samples: Sequence[float]) -> str:
    return (
        f"{len(samples)} samples, {sum(samples) / len(samples):.4f} ms average, {min(samples):.4f} ms min, "
        f"{_median(samples):.4f} ms median, {max(samples):.4f} ms max"
    )
