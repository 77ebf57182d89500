"""What our build adds to Sphinx, on sites of few pages: versions know each other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from documentation.versions import versions
from toolchain import missing

from .site import ROOT, probed

CONF = """\
import sys
sys.path[:0] = [{tools!r}, {root!r}]
project, version, extensions = "small", {version!r}, ["myst_parser", *{extensions!r}]
html_theme, templates_path, html_static_path = "furo", [{docs!r} + "/_templates"], [{docs!r} + "/_static"]
html_sidebars = {{"**": ["sidebar/brand.html", "sidebar/versions.html"]}}
"""


def test_the_newest_version_comes_first(tmp_path: Path) -> None:
    for name in ("1.9.0", "1.10.0", "0.3", "drafts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    (tmp_path / "2.0.0").mkdir()
    assert versions(tmp_path) == ["1.10.0", "1.9.0", "0.3"]


def sphinx(folder: Path, version: str, text: str, *extensions: str) -> subprocess.CompletedProcess[str]:
    """A site of one page, built as the documentation is: into a folder of its version, warnings are errors."""
    try:
        import furo  # noqa: F401
        import myst_parser  # noqa: F401
    except ImportError:
        missing("the extra docs")
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "index.md").write_text(text, encoding="utf-8")
    (source / "deep").mkdir(exist_ok=True)
    (source / "deep" / "page.md").write_text("---\norphan: true\n---\n# Page\n", encoding="utf-8")
    conf = CONF.format(
        tools=str(ROOT / "tools"),
        root=str(ROOT),
        docs=str(ROOT / "docs"),
        version=version,
        extensions=list(extensions),
    )
    (source / "conf.py").write_text(conf, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-E"]
    command += [str(source), str(folder / "html" / version)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_every_version_lists_all(tmp_path: Path) -> None:
    """An older one too, which was built before; choosing one leads to it."""
    for version in ("1.0", "1.1"):
        built = sphinx(tmp_path, version, f"# Version {version}\n", "documentation.versions")
        assert built.returncode == 0, built.stderr
    start = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert re.search(r"url=([^\"]+)", start)[1] == "1.1/index.html"
    script = """
        const page = await open("/1.0/deep/page.html", 1200);
        const list = page.document.getElementById("versions");
        const names = [...list.options].map((one) => one.value), chosen = list.value;
        const frame = document.querySelector("iframe");
        const loaded = new Promise((done) => frame.addEventListener("load", done));
        list.value = "1.1";
        list.dispatchEvent(new page.Event("change"));
        await loaded;
        return { names, chosen, there: frame.contentWindow.location.pathname };
    """
    found, console = probed(tmp_path / "html", script, tmp_path)
    assert found == {"names": ["1.1", "1.0"], "chosen": "1.0", "there": "/1.1/index.html"}
    assert console == []


@pytest.mark.slow
def test_a_build_into_another_folder_has_no_list(tmp_path: Path) -> None:
    source = sphinx(tmp_path, "1.0", "# A\n", "documentation.versions")
    assert source.returncode == 0, source.stderr
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "-E"]
    other = tmp_path / "elsewhere" / "site"
    subprocess.run([*command, str(tmp_path / "source"), str(other)], check=True, timeout=300)
    assert 'id="versions"' not in (other / "index.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in other.parent.iterdir()) == ["site"]
