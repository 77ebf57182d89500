"""How far a run of many tests is: on one line of a terminal, or in ten lines of a file, instead of hundreds of dots."""

from __future__ import annotations

from time import monotonic

import pytest

# Fewer tests fill few lines.
MANY = 1000
STEPS = 10
# A terminal shows no more than this many lines a second.
LINES_A_SECOND = 5


class Progress:
    """A plugin of the process that reports: failures keep their letters, what passes or is skipped is counted."""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session
        self.reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        self.done, self.last = 0, 0.0

    @property
    def is_used(self) -> bool:
        # With pytest-xdist, what its workers have collected.
        return self.session.testscollected >= MANY

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        if not self.is_used or hasattr(report, "wasxfail"):
            return None
        if report.passed and report.when == "call":
            return "passed", "", ""
        return ("skipped", "", "") if report.skipped else None

    def pytest_runtest_logfinish(self) -> None:
        if not self.is_used:
            return
        self.done += 1
        total = self.session.testscollected
        text = f"{self.done} of {total} tests"
        if not self.reporter.isatty:
            if self.done * STEPS // total > (self.done - 1) * STEPS // total:
                self.reporter.write_line(text)
        elif self.done == total or monotonic() - self.last > 1 / LINES_A_SECOND:
            self.last = monotonic()
            self.reporter.rewrite(text, erase=True)
