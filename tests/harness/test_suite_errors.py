"""A mistake in a suite is told with its file, line, key, value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pacbench.errors import UserError
from pacbench.suite import load_suite

WriteSuite = Callable[..., Path]

VALID = """\
name: small
task: crf
data: {name: scenes, params: {size: [24, 32]}}
methods:
  - name: copies
"""


def message(path: Path, *overrides: str) -> str:
    with pytest.raises(UserError) as caught:
        load_suite(str(path), list(overrides)).cells("cpu", 1, {})
    return str(caught.value)


def test_valid_suite_has_one_cell(write_suite: WriteSuite) -> None:
    cells = load_suite(str(write_suite(VALID))).cells("cpu", 1, {})
    assert [cell.method for cell in cells] == ["copies"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("- a\n- b\n", "suite.yaml:1: a suite is a mapping; this is a list"),
        ("just words\n", "a suite is a mapping; this is a str"),
        ("name: a\n\ttask: crf\n", "suite.yaml:2: YAML does not allow tabs"),
        ("name: [a\n", "not YAML"),
        ("name: a: b\n", "suite.yaml:1: not YAML"),
        ("a: &x [*x]\n", "nested too deeply"),
        ("when: 2001-99-99\n", "not YAML"),
        (VALID + "task: crf\n", "suite.yaml:6: task: this key stands twice"),
        ("!!python/object/apply:os.system ['true']\n", "only plain YAML values are allowed"),
        (VALID.replace("small", "!!python/name:os.system"), "only plain YAML values are allowed"),
        (
            VALID + "repeats: 0\n",
            "suite.yaml:6: repeats: got 0; should be greater than or equal to 1",
        ),
        (VALID + "repeats: -3\n", "suite.yaml:6: repeats: got -3; should be greater"),
        (VALID + "repeats: many\n", "suite.yaml:6: repeats: got 'many'; should be a valid integer"),
        (VALID + "repeat: 3\n", "suite.yaml:6: repeat: unknown key (did you mean 'repeats'?)"),
        (
            VALID + "device: gpu\n",
            "device: got 'gpu' (did you mean 'cpu'?); allowed: 'cpu', 'cuda' or 'auto'",
        ),
        (VALID + "limits: {second: 3}\n", "limits.second: unknown key (did you mean 'seconds'?)"),
        (VALID + "sweep: {number: []}\n", "axis 'number' is an empty list, which makes zero cells"),
        (
            VALID + "sweep: {numbr: [1]}\n",
            "sweep.numbr: no method here has such a parameter (did you",
        ),
        (VALID + "sweep: {number: [1, -2]}\n", "suite.yaml:6: sweep.number.1: got -2; should be"),
        (VALID + "sweep: {threads: [0.5]}\n", "sweep.threads.0"),
        (VALID + "sweep: {data.size: [[1]]}\n", "sweep.data.size.0"),
        (VALID + "sweep: {backend: [reference, cuda]}\n", "has no backend 'cuda'"),
        (VALID + "exclude: [{method: cop*}]\n", "every combination is excluded: zero cells"),
        (
            VALID + "exclude: [{methd: x}]\n",
            "exclude.0.methd: nothing to match (did you mean 'method'",
        ),
        (
            VALID.replace("copies", "copeis"),
            "suite.yaml:5: methods.0.name: no method is called 'copeis'",
        ),
        (VALID.replace("copies", "copeis"), "did you mean 'copies'?"),
        (
            VALID + "    params: {numbr: 1}\n",
            "suite.yaml:6: methods.0.params.numbr: unknown key (did",
        ),
        (VALID + "    backend: nativ\n", "has no backend 'nativ' (did you mean 'native'?)"),
        (VALID + "  - name: copies\n", "suite.yaml:6: methods.1: is the same cell as methods.0"),
        (VALID.replace("scenes", "scene"), "no dataset is called 'scene' (did you mean 'scenes'?)"),
        (VALID.replace("size:", "sizes:"), "data.params.sizes: unknown key (did you mean 'size'?)"),
        (VALID.replace("task: crf", "task: upsample"), "'copies' is a method of task 'crf'"),
        (VALID.replace("{name: scenes", "{name: scenes, split: vall"), "(did you mean 'val'?)"),
    ],
)
def test_mistakes_are_explained(write_suite: WriteSuite, text: str, expected: str) -> None:
    assert expected in message(write_suite(text))


def test_all_mistakes_are_told_at_once(write_suite: WriteSuite) -> None:
    text = VALID.replace("copies", "copeis").replace("scenes", "scene") + "sweep: {number: [1]}\n"
    lines = message(write_suite(text)).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["data.name", "methods.0.name"]

    shape = message(write_suite(VALID + "repeats: 0\nseed: -1\ncolour: red\n")).splitlines()
    assert [line.split(": ")[1] for line in shape] == ["repeats", "seed", "colour"]


def test_a_parameter_cannot_be_set_and_swept(write_suite: WriteSuite) -> None:
    text = VALID + "    params: {number: 1}\nsweep: {number: [1, 2]}\n"
    assert "is also an axis under 'sweep'" in message(write_suite(text))


def test_too_many_cells(write_suite: WriteSuite) -> None:
    text = VALID + f"sweep: {{number: {list(range(200))}, seconds: {list(range(200))}}}\n"
    assert "makes more than 10,000 cells" in message(write_suite(text))


def test_alias_bomb(write_suite: WriteSuite) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
    assert "more than 50,000 values once aliases are expanded" in message(write_suite(bomb))


def test_deep_nesting(write_suite: WriteSuite) -> None:
    assert "nested too deeply" in message(write_suite("a: " + "[" * 20_000 + "]" * 20_000))


def test_ten_megabytes(write_suite: WriteSuite) -> None:
    text = VALID + "# " + "x" * 10_000_000 + "\n"
    assert "a suite has at most 1,000,000" in message(write_suite(text))


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(b"name: \xff\xfe\n")
    assert "is not UTF-8 text" in message(path)


def test_no_such_file(tmp_path: Path) -> None:
    assert "no such file" in message(tmp_path / "absent.yaml")
    assert "is a folder" in message(tmp_path)
    with pytest.raises(UserError, match="did you mean 'crf'"):
        load_suite("crff")


def test_packaged_suite_by_name() -> None:
    assert load_suite("crf").suite.name == "crf"


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("repeats", "should be KEY=VALUE"),
        ("repeats=0", "--set repeats=0: repeats: got 0"),
        ("data.limt=1", "--set data.limt=1: data.limt: unknown key (did you mean 'limit'?)"),
        ("methods.7.name=x", "there is no '7' here; expected an index below 1"),
        ("name.first=x", "there is no 'first' here; expected a mapping"),
        ("repeats=[", "the value is not YAML"),
    ],
)
def test_mistaken_overrides(write_suite: WriteSuite, override: str, expected: str) -> None:
    assert expected in message(write_suite(VALID), override)


def test_overrides_are_part_of_the_suite_as_run(write_suite: WriteSuite, tmp_path: Path) -> None:
    source = load_suite(
        str(write_suite(VALID)), ["repeats=9", "data.limit=2", "methods.0.params.number=4"]
    )
    assert (source.suite.repeats, source.suite.data.limit) == (9, 2)
    assert source.suite.methods[0].params == {"number": 4}
    copy = tmp_path / "copy.yaml"
    copy.write_text(source.text)
    assert load_suite(str(copy)).suite == source.suite
