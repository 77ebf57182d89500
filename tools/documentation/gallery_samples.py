"""The directive ``{sample} NAME``: a sample's output, the pictures that it draws, and its source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
# A folder beside the page, ignored by git.
PICTURES = "pictures"


class SampleDirective(SphinxDirective):
    """``:pictures:`` passes the sample a folder to draw into, ``:lines: n`` shows n lines of its output, the last ones
    after an ellipsis."""

    required_arguments = 1
    option_spec = {"pictures": directives.flag, "lines": directives.positive_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        source = ROOT / "directml_py" / "samples" / f"{name}.py"
        page = Path(self.env.doc2path(self.env.docname)).parent
        folder = page / PICTURES / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        output = self._run(name, [str(folder)] if "pictures" in self.options else [])
        self.env.note_dependency(str(source))
        pictures = sorted(path for path in folder.rglob("*") if path.suffix in (".svg", ".png"))
        shown: list[nodes.Node] = [
            nodes.image(uri=path.relative_to(page).as_posix(), alt=f"{path.stem}, drawn by {name}")
            for path in pictures
        ]
        text = source.read_text(encoding="utf-8")
        return [
            nodes.literal_block(output, output, language="text", classes=["drawn"]),
            *shown,
            nodes.raw("", f"<details><summary>samples/{name}.py</summary>", format="html"),
            nodes.literal_block(text, text, language="python"),
            nodes.raw("", "</details>", format="html"),
        ]

    def _run(self, name: str, arguments: list[str]) -> str:
        """The sample's output. A failing sample is an error of the page."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-m", f"directml_py.samples.{name}", *arguments]
        run = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, timeout=300)
        if run.returncode:
            raise self.error(f"the sample {name} fails: {run.stderr}")
        lines = run.stdout.rstrip().splitlines()
        most = self.options.get("lines", len(lines))
        if most < len(lines):
            lines = [*lines[: most - 2], "…", lines[-1]]
        return "\n".join(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("sample", SampleDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
