"""Versions of the documentation beside each other, each in a folder of its name, with a list of all in each sidebar.

The list is one file beside the folders, which every build writes anew: pages of older versions know the newer ones.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LIST = "versions.js"
START = """\
<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={version}/index.html">
<title>directml-py</title>
<a href="{version}/index.html">directml-py {version}</a>
"""


def versions(folder: Path) -> list[str]:
    """The versions that are built in a folder, the newest first."""
    found = [path.parent.name for path in folder.glob("*/index.html") if path.parent.name[:1].isdigit()]
    return sorted(found, key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)


def is_versioned(app: Sphinx) -> bool:
    return app.builder.format == "html" and Path(app.outdir).name == app.config.version


def mark(app: Sphinx) -> None:
    """The sidebar's template asks for the list where there will be one."""
    app.config.html_context["versions"] = f"../{LIST}" if is_versioned(app) else ""


def write(app: Sphinx, exception: Exception | None) -> None:
    """The list, and the page that leads on to the newest version."""
    if exception is not None or not is_versioned(app):
        return
    folder = Path(app.outdir).parent
    names = versions(folder)
    (folder / LIST).write_text(f"const DIRECTML_PY_VERSIONS = {json.dumps(names)};\n", encoding="utf-8")
    (folder / "index.html").write_text(START.format(version=names[0]), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", mark)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
