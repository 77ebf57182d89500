"""The mutation testing tool."""

from __future__ import annotations

from mutate import knowing
from mutating.code_changes import QUESTION, mutants_of, switched
from mutating.trials import Chooser, Seen

CODE = '''
LIMIT: int = 3

def within(a, b=2):
    """1 + 1 in a text."""
    if not (0 <= a < LIMIT) or a == b:
        return f"{a + 1} is out"
    return (a +
            b)
'''


def written(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(CODE, encoding="utf-8")
    return list(mutants_of(path, "code.py"))


def test_what_is_changed(tmp_path):
    """Texts, annotations and formatting are not mutated."""
    found = {(mutant.old, mutant.new): mutant.at_import for mutant in written(tmp_path)}
    assert found == {
        ("3", "4"): True,
        ("2", "3"): True,
        ("not 0 <= a < LIMIT or a == b", "not 0 <= a < LIMIT and a == b"): False,
        ("not 0 <= a < LIMIT", "0 <= a < LIMIT"): False,
        ("0 <= a < LIMIT", "0 < a < LIMIT"): False,
        ("0 <= a < LIMIT", "0 <= a <= LIMIT"): False,
        ("0", "1"): False,
        ("a == b", "a != b"): False,
        ("a + b", "a - b"): False,
    }


def test_sizes_that_are_left_open_stay_so(tmp_path):
    path = tmp_path / "code.py"
    path.write_text("a = b.reshape(-1, 2)[-1]", encoding="utf-8")
    found = [(mutant.start, mutant.old, mutant.new) for mutant in mutants_of(path, "code.py")]
    assert found == [(18, "2", "3"), (22, "1", "2")]


def test_one_text_for_all_mutants(tmp_path):
    """Each mutant behaves as the source with only its expression replaced; line numbers are unchanged."""
    mutants = written(tmp_path)
    text = switched(CODE.encode(), list(enumerate(mutants, 1))).decode()
    assert text.count("\n") == CODE.count("\n")
    unchanged = None
    for number, mutant in enumerate([None, *mutants]):
        alone = CODE.encode()
        if mutant is not None:
            alone = alone[: mutant.start] + f"({mutant.new})".encode() + alone[mutant.end :]
        one, all_in_one = {}, {QUESTION: number.__eq__}
        exec(alone, one)
        exec(text, all_in_one)
        results = [
            [space["within"](*given) for given in [(0,), (1,), (2,), (3,), (4,), (1, 1)]]
            for space in (one, all_in_one)
        ]
        assert results[0] == results[1]
        if mutant is None:
            unchanged = results[0]
        else:
            assert results[0] != unchanged


def test_the_tests_of_a_place():
    """Tests with coverage, the room's own first, within the budget; then others that may be relevant."""
    file = 100
    seen = {
        "tests/dml/test_a.py::test_other": Seen(0.1, (file,)),
        "tests/dml/test_a.py::test_near[1]": Seen(3.0, (1, file)),
        "tests/d3d12/test_b.py::test_far": Seen(2.0, (1, file)),
        "tests/dml/test_a.py::test_near[2]": Seen(2.0, (1, file)),
        "tests/dml/test_c.py::test_elsewhere": Seen(1.0, ()),
    }
    chosen = Chooser([file, file, 101], ["dml"] * 3, [False] * 3, 8.0)
    near, far = (
        [f"tests/dml/test_a.py::test_near[{number}]" for number in (1, 2)],
        "tests/d3d12/test_b.py::test_far",
    )
    other, elsewhere = "tests/dml/test_a.py::test_other", "tests/dml/test_c.py::test_elsewhere"
    assert chosen(1, seen, False) == [*near, far, other]
    # Nobody comes by; the module is imported; the file is not come by either.
    assert chosen(2, seen, False) == [*near, other, far, elsewhere]
    assert chosen(1, seen, True) == [near[1], other, elsewhere]
    assert chosen(3, seen, False) == [far, other, elsewhere]


def test_a_room_s_own_tests_come_before_those_of_others():
    """All parametrizations count; of other rooms each function's first parametrization precedes the second ones."""
    own = {f"tests/dml/test_a.py::test_near[{number}]": Seen(0.1, (1,)) for number in range(15)}
    others = {f"tests/d3d12/test_b.py::test_far[{number}]": Seen(0.1, (1,)) for number in range(15)}
    chosen = Chooser([100], ["dml"], [False], 1.65)(1, {**others, **own}, False)
    assert set(own) < set(chosen)
    assert len(set(others) & set(chosen)) == 1


def test_rooms_have_tests_of_their_own(tmp_path):
    """All folders, but some only for changes of their own rooms; folders without tests are skipped."""
    for room in ("abi", "graph", "kernels", "operators"):
        (tmp_path / "tests" / room).mkdir(parents=True)
        (tmp_path / "tests" / room / "test_it.py").touch()
    (tmp_path / "tests" / "empty").mkdir()
    paths = [
        "directml_py/descs/desc_json.py:12",
        "directml_py/graph/",
        "directml_py/session.py",
        "directml_py",
    ]
    assert knowing(tmp_path, paths) == ["tests/abi", "tests/graph"]
    paths.append("directml_py/kernels/reduce.py")
    assert knowing(tmp_path, paths) == ["tests/abi", "tests/graph", "tests/kernels"]
