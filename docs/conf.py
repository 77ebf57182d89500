"""The documentation's settings for Sphinx; `nox -s docs` builds it into build/docs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
# Notebook kernels are separate processes, and must import the same tree.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])],
)

from directml_py import __version__  # noqa: E402

project = "directml-py"
author = "The directml-py authors"
project_copyright = author
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "documentation.site",
    "documentation.break_points",
    "documentation.index_names",
    "documentation.debug_tables",
    "documentation.notebooks",
    "documentation.gallery_samples",
    "documentation.picture_directives",
    "documentation.versions",
]
exclude_patterns = ["notebooks/downloads", "_build", "**/.ipynb_checkpoints"]
nitpicky = True
# Annotations name what no page describes: types of NumPy, of the standard library, and our own aliases.
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_default_options = {"undoc-members": True}
autodoc_typehints_format = "short"

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

html_theme = "furo"
html_title = f"directml-py {version}"
html_static_path = ["_static"]
templates_path = ["_templates"]
# Furo's own, with the list of versions below the search.
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_css_files = ["directml.css", "pictures.css"]
html_js_files = ["levels.js"]
html_copy_source = False
html_show_sphinx = False

# Prompts and command output are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
