"""The built site: served to a browser, which reports what it renders, and read from disk."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from toolchain import missing

ROOT = Path(__file__).resolve().parents[2]
# Minutes of the page's own clock, which stands still while it loads.
PATIENCE = 600_000


def build(folder: Path) -> None:
    """As ``nox -s docs`` does it, but from a copy: the working copy stays as it is."""
    source = folder / "source"
    for name in ("docs", "tools", "include", "directml_py", "tests", "README.md", "CONTRIBUTING.md"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    options = ["-b", "html", "-q", "-W", "--keep-going", "-j", "auto"]
    command = [sys.executable, "-m", "sphinx", *options, str(source / "docs"), str(folder / "html")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert run.returncode == 0, run.stdout + run.stderr


class Handler(SimpleHTTPRequestHandler):
    """Serves the site, and pages of tests by their path."""

    def __init__(self, *arguments: Any, probes: dict[str, str], **rest: Any) -> None:
        self.probes = probes
        super().__init__(*arguments, **rest)

    def do_GET(self) -> None:
        probe = self.probes.get(self.path.partition("?")[0])
        if probe is None:
            super().do_GET()
            return
        body = probe.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def served(html: Path, probes: dict[str, str]) -> Iterator[str]:
    """The address of the site while it is served."""
    handler = partial(Handler, directory=str(html), probes=probes)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def browse(address: str, profile: Path) -> tuple[str, list[str]]:
    """What a browser makes of a page, and what was written to its console."""
    browser = shutil.which("chromium")
    if browser is None:
        missing("chromium")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        f"--user-data-dir={profile}",
    ]
    options += ["--window-size=1280,900", f"--virtual-time-budget={PATIENCE}", "--dump-dom"]
    run = subprocess.run([browser, *options, address], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def probed(html: Path, script: str, folder: Path) -> tuple[Any, list[str]]:
    """What ``script``, the body of an asynchronous function, returns in a page beside the site's, and the console.

    It has ``open(path, width)``, which loads a page of the site in a frame and gives its window.
    """
    page = PROBE.replace("SCRIPT", script)
    with served(html, {"/probe.html": page}) as address:
        dom, console = browse(f"{address}/probe.html", folder / "profile")
    match = re.search(r'<pre id="result">(.*?)</pre>', dom, re.DOTALL)
    assert match, dom[-2000:]
    return json.loads(unescape(match[1])), console


PROBE = """<!doctype html><meta charset="utf-8"><pre id="waiting"></pre><script>
async function open(path, width) {
  document.querySelector("iframe")?.remove();
  const frame = document.createElement("iframe");
  frame.style.cssText = `width: ${width}px; height: 844px; border: 0`;
  frame.src = path;
  const loaded = new Promise((done) => frame.addEventListener("load", done));
  document.body.append(frame);
  await loaded;
  return frame.contentWindow;
}
async function until(condition) {
  for (let tries = 0; tries < 300 && !condition(); tries++) await new Promise((done) => setTimeout(done, 100));
}
(async () => {
  let result;
  try { result = await (async () => { SCRIPT })(); }
  catch (error) { result = { failed: String(error.stack || error) }; }
  const place = document.getElementById("waiting");
  place.id = "result";
  place.textContent = JSON.stringify(result);
})();
</script>"""
