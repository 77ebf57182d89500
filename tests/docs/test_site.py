"""The documentation builds without a warning, its links lead somewhere, and a browser can use it, on a phone too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import missing

from directml_py.operators import SCHEMAS, operator_of

from .site import browse, build, probed, served

pytestmark = pytest.mark.slow
PHONE = 390
# Furo's own, drawn by scripts.
OWN = {"search.html", "genindex.html"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built pages."""
    try:
        import furo  # noqa: F401
        import myst_nb  # noqa: F401
        import sphinx  # noqa: F401
    except ImportError:
        missing("the extra docs")
    return built_once(shared_folder(tmp_path_factory, "site"), build) / "html"


@pytest.fixture(scope="module")
def pages(site):
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_every_operator_has_a_page(pages):
    assert {f"operators/{name}.html" for name in SCHEMAS} <= set(pages)


def test_no_page_is_wider_than_a_phone(site, pages, tmp_path):
    """No page logs an error either; anything wider scrolls in its own box."""
    script = f"""
        const wide = [], failed = [];
        for (const path of {json.dumps([name for name in pages if name not in OWN])}) {{
          const page = await open("/" + path, {PHONE});
          const root = page.document.documentElement;
          if (root.clientWidth !== {PHONE} && root.clientWidth < {PHONE - 20}) failed.push([path, root.clientWidth]);
          if (root.scrollWidth > root.clientWidth) wide.push([path, root.scrollWidth]);
          for (const image of page.document.images)
            if (image.complete && !image.naturalWidth) failed.push([path, image.src]);
        }}
        return {{ wide, failed }};
    """
    found, console = probed(site, script, tmp_path)
    assert found == {"wide": [], "failed": []}
    assert console == []


def test_what_is_wide_scrolls_in_its_own_box(site, tmp_path):
    """Otherwise it would be cut off: the widest picture, table and block of code."""
    script = f"""
        const found = {{}};
        for (const [name, path, selector] of [
          ["picture", "/operators/ELEMENT_WISE_QUANTIZED_LINEAR_ADD.html", ".operator-picture > div"],
          ["table", "/operators/GATHER.html", ".table-wrapper"],
          ["levels", "/levels.html", ".table-wrapper"],
          ["code", "/operators/JOIN.html", "div.highlight pre"],
        ]) {{
          const page = await open(path, {PHONE});
          const boxes = [...page.document.querySelectorAll(selector)];
          const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
          found[name] = wide.length > 0 && wide.every((box) =>
            ["auto", "scroll"].includes(page.getComputedStyle(box).overflowX));
        }}
        return found;
    """
    found, _ = probed(site, script, tmp_path)
    assert found == dict.fromkeys(("picture", "table", "levels", "code"), True)


@pytest.mark.parametrize("width", [1280, 1366])
def test_a_laptop_shows_lines_of_100_columns(site, pages, tmp_path, width):
    """And two columns beside each other, the operators with all they are said to compute, and graphs in their size."""
    handwritten = [
        name for name in pages if name not in OWN and not name.startswith(("operators/", "_modules/"))
    ]
    script = f"""
        const found = [];
        for (const path of {json.dumps([*handwritten, "operators/index.html"])}) {{
          const page = await open("/" + path, {width});
          const all = (selector) => [...page.document.querySelectorAll(selector)];
          for (const block of all("div.highlight pre")) {{
            const columns = Math.max(...block.textContent.split("\\n").map((line) => line.length));
            if (columns <= 100 && block.scrollWidth > block.clientWidth + 1) found.push([path, "code", columns]);
          }}
          for (const pair of all(".beside")) {{
            const tops = [...pair.children].map((child) => child.getBoundingClientRect().top);
            if (tops[0] !== tops[1]) found.push([path, "beside", tops]);
          }}
          if (path.startsWith("operators/"))
            for (const table of all(".table-wrapper"))
              if (table.scrollWidth > table.clientWidth + 1) found.push([path, "table", table.scrollWidth]);
          if (path === "notebooks/graphs.html" || path === "index.html")
            for (const image of all("article img"))
              if (image.width < image.naturalWidth) found.push([path, image.width, image.naturalWidth]);
        }}
        return found;
    """
    found, _ = probed(site, script, tmp_path)
    assert found == []


def test_names_break_after_underscores(site):
    """In the sidebar and in the table."""
    text = (site / "operators" / "index.html").read_text(encoding="utf-8")
    name = "ACTIVATION_PARAMETERIZED_RELU"
    assert text.count(f">{name.replace('_', '_<wbr>')}<") == 2
    assert f">{name}<" not in text


def test_pictures_and_code_are_legible_in_light_and_dark(site, tmp_path):
    """Numbers on the page and on coloured cells, and code, have a WCAG contrast of at least 4.5 to 1."""
    script = """
        const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
        const over = ([r, g, b, a = 1], under) => [r, g, b].map((one, i) => one * a + under[i] * (1 - a));
        const light = (color) => {
          const [r, g, b] = color.map((one) => (one /= 255) <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
        const found = [];
        for (const theme of ["light", "dark"]) {
          for (const name of ["JOIN", "PADDING", "CONVOLUTION", "GEMM", "TILE", "ELEMENT_WISE_EXP"]) {
            const page = await open(`/operators/${name}.html`, 1200);
            page.document.body.dataset.theme = theme;
            const style = (node) => page.getComputedStyle(node);
            const background = numbers(style(page.document.body).backgroundColor).slice(0, 3);
            const cells = [...page.document.querySelectorAll(".operator-picture .cell")];
            let least = 21;
            for (const cell of cells) {
              const behind = over(numbers(style(cell).fill), background);
              least = Math.min(least, contrast(numbers(style(cell.nextElementSibling).fill), behind));
            }
            for (const text of page.document.querySelectorAll(".operator-picture text"))
              least = Math.min(least, contrast(numbers(style(text).fill), background));
            const block = page.document.querySelector("div.highlight");
            const code = numbers(style(block).backgroundColor);
            least = Math.min(least, contrast(numbers(style(block.querySelector("pre")).color), code));
            const themes = [background, code].map((one) => light(one) > 0.5 ? "light" : "dark");
            found.push([theme, name, cells.length, themes, least]);
          }
        }
        return found;
    """
    found, console = probed(site, script, tmp_path)
    assert console == []
    assert [[one[0]] * 2 for one in found] == [one[3] for one in found]
    assert all(count for _, name, count, _, _ in found if name != "ELEMENT_WISE_EXP")
    assert min(one[4] for one in found) >= 4.5, found


@pytest.mark.parametrize(
    ("words", "operator"),
    [
        ("JOIN", "JOIN"),
        ("DML_OPERATOR_TOP_K1", "TOP_K1"),
        ("MatMul", "GEMM"),
        ("ConvTranspose", "CONVOLUTION"),
        ("BatchNorm2d", "BATCH_NORMALIZATION"),
        ("scaled_dot_product_attention", "MULTIHEAD_ATTENTION"),
        ("torch.cat", "JOIN"),
    ],
)
def test_search_finds_operators(site, tmp_path, words, operator):
    """By the names of DirectML, ONNX and PyTorch."""
    with served(site, {}) as address:
        dom, console = browse(f"{address}/search.html?q={words}", tmp_path / "profile")
    results = re.findall('href="([^"#?]*)', dom[dom.index('id="search-results"') :])
    assert f"operators/{operator}.html" in results[:5]
    assert console == []


FILTER = """
    const page = await open("/levels.html", 1200);
    const form = page.document.getElementById("level-filter").elements;
    const shown = () => [...page.document.querySelectorAll("#levels tbody tr")]
      .filter((row) => row.offsetParent !== null)
      .map((row) => [...row.cells].map((cell) => cell.textContent));
    const set = (name, value) => {
      form[name][form[name].type === "checkbox" ? "checked" : "value"] = value;
      form[name].dispatchEvent(new page.Event("input", { bubbles: true }));
    };
"""


def test_the_filter_filters(site, tmp_path):
    """By name, level and data type; all that is chosen holds at once."""
    script = (
        FILTER
        + """
        const all = shown().length;
        set("text", "dml_operator_join");
        const join = shown();
        set("level", String(0x2100));
        const early = shown();
        set("before", false);
        const only = shown(), count = form.count.value, hash = page.location.hash;
        set("text", ""); set("level", ""); set("type", "INT4");
        const narrow = shown();
        set("type", ""); set("family", "recurrent");
        const family = [...new Set(shown().map((row) => row[1]))];
        return { all, join, early, only, count, hash, narrow, family };
    """
    )
    found, console = probed(site, script, tmp_path)
    assert console == []
    assert found["all"] > 400
    assert [row[0] for row in found["join"]] == ["1.0", "2.1", "3.0", "4.1"]
    assert [row[0] for row in found["early"]] == ["1.0", "2.1"]
    assert found["only"] == [["2.1", "JOIN", "INT8, UINT8"]]
    assert found["count"] == f"1 of {found['all']} rows"
    assert found["hash"] == "#text=dml_operator_join&level=8448&only=1"
    assert {row[1] for row in found["narrow"]} == {"QUANTIZE", "DEQUANTIZE"}
    assert found["family"] == ["GRU", "LSTM", "RNN"]


def test_the_filter_is_in_the_address(site, tmp_path):
    script = (
        FILTER.replace("/levels.html", "/levels.html#text=GATHER_ND1&type=INT64")
        + "return { shown: shown(), text: form.text.value, type: form.type.value };"
    )
    found, _ = probed(site, script, tmp_path)
    assert (found["text"], found["type"]) == ("GATHER_ND1", "INT64")
    assert {row[1] for row in found["shown"]} == {"GATHER_ND1"}


def test_rules_have_anchors(site):
    assert 'id="dml-join-sizes"' in Path(site, "operators/JOIN.html").read_text(encoding="utf-8")
    assert 'id="dml-desc-null"' in Path(site, "reference/rules.html").read_text(encoding="utf-8")


def test_the_rules_of_the_debug_layers_lead_to_their_texts(site):
    """Their links are written by hand, so that Sphinx does not follow them."""
    links = re.findall(
        r'href="\.\./([\w/]+\.html)#([\w-]+)"', Path(site, "debugging/hazards.html").read_text("utf-8")
    )
    rules = [(page, place) for page, place in links if place.startswith(("dml-", "d3d12-"))]
    assert len(rules) > 50
    texts = {page: Path(site, page).read_text(encoding="utf-8") for page, _ in rules}
    assert [f"{page}#{place}" for page, place in rules if f'id="{place}"' not in texts[page]] == []


def test_operators_pages_lead_to_their_source(site):
    """To a page with the class, and to the place of the class on it."""
    for name in SCHEMAS:
        kind = type(operator_of(name))
        page = f"_modules/{kind.__module__.replace('.', '/')}.html"
        assert f'href="../{page}#{kind.__name__}"' in Path(site, f"operators/{name}.html").read_text(
            encoding="utf-8"
        )
        assert f'id="{kind.__name__}"' in Path(site, page).read_text(encoding="utf-8")


def test_the_table_of_levels_leads_to_operators(site):
    """Its links are HTML, which Sphinx does not follow."""
    links = set(
        re.findall(
            '<a href="operators/([A-Z0-9_]+).html">', Path(site, "levels.html").read_text(encoding="utf-8")
        )
    )
    assert links == set(SCHEMAS)


def test_every_interface_lists_its_methods(site):
    """With those of the parts that a class is made of, and no more than once."""
    page = Path(site, "reference/interfaces.html").read_text(encoding="utf-8")
    for interface, method in (
        ("IDMLDevice", "CreateOperator"),
        ("IDMLDevice1", "CompileGraph"),
        ("ID3D12Device", "CreateCommittedResource"),
        ("ID3D12GraphicsCommandList", "ResourceBarrier"),
    ):
        assert page.count(f'id="directml_py.{interface}.{method}"') == 1, method
