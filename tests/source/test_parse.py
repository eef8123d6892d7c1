"""Parsing: values, places, and one clear answer for each fault."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from drawn import examples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from trainyard.language.places.route import Route
from trainyard.language.places.tree import MappingNode, Node, ScalarNode, SequenceNode, SourceFile
from trainyard.language.source.compose import MAX_DEPTH
from trainyard.language.source.parse import MAX_RESTARTS, decode, parse, read
from trainyard.language.source.scalars import Refusal, resolve
from trainyard.language.source.syntax import MAX_LINES


def _reported(text: str, *, pure: bool = False) -> list[tuple[str, int, int]]:
    _, found = parse(SourceFile("spec.yaml", text), pure=pure)
    assert all(item.span is not None and item.help for item in found)
    return [(item.code, item.span.line, item.span.column) for item in found if item.span]


@pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "pure"])
@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: 1\nb: 2\na: 3\n", [("YML001", 3, 1)]),
        ("a: {b: 1, b: 2}\nc: [{d: 1, d: 2}]\n", [("YML001", 1, 11), ("YML001", 2, 12)]),
        ("a: b: c\n", [("YML002", 1, 5)]),
        ('a: "x\nb: 2\n\n\n', [("YML002", 2, 5)]),
        ("a:\n  b: 1\n c: 2\n", [("YML002", 3, 2)]),
        ("a: 1\nfoo\nb: 2\n", [("YML002", 3, 1)]),
        ("a: [1, 2\nb: 3\n", [("YML002", 2, 2)]),
        ("a: @x\n", [("YML002", 1, 4)]),
        ("a: *.yaml\n", [("YML002", 1, 5)]),
        ("{a: 1}\nb: 2\n", [("YML002", 2, 1)]),
        (
            "a: b: c\n---\nb: no\n---\nc: [\n",
            [("YML002", 1, 5), ("YML008", 3, 4), ("YML002", 5, 5)],
        ),
        ("a:\n\tb: 1\n\tc: 2\n", [("YML003", 2, 1)]),
        ("a:\n  \tb: 1\n", [("YML003", 2, 3)]),
        ("a: *x\n", [("YML004", 1, 4)]),
        ("a: &x [*x]\n", [("YML006", 1, 8)]),
        ("a: " + "[" * 65 + "]" * 65 + "\n---\nb: no\n", [("YML007", 1, 67), ("YML008", 3, 4)]),
        (
            "a: no\nb: [on, y, N]\n",
            [("YML008", 1, 4), ("YML008", 2, 5), ("YML008", 2, 9), ("YML008", 2, 12)],
        ),
        ("on: 1\n", [("YML008", 1, 1)]),
        (
            "a: 010\nb: 0o10\nc: 12:30:45\nd: 1_000\ne: 08\nf: 0b1\n",
            [("YML009", n, 4) for n in range(1, 7)],
        ),
        (f"a: 0o{'7' * 30}\n", [("YML009", 1, 4)]),
        ("a: &x [1]\n*x : b\n", [("YML013", 2, 1)]),
        ("a: .inf\nb: -.INF\nc: .NaN\nd: 1e999\n", [("YML010", n, 4) for n in range(1, 5)]),
        ("a: 18446744073709551616\nb: " + "9" * 5000, [("YML011", 1, 4), ("YML011", 2, 4)]),
        ("1: a\ntrue: b\n2.5: c\n~: d\n", [("YML012", n, 1) for n in range(1, 5)]),
        ("? [a]\n: b\n", [("YML013", 1, 3)]),
        ("a: {{ .Values.x }}\n", [("YML013", 1, 5)]),
        (
            "a: !!python/object:x {}\nb: !y [1]\nc: !!str 1\n",
            [("YML014", n, 4) for n in range(1, 4)],
        ),
        ("a: &x {b: 1}\nc: {<<: *x}\n", [("YML015", 2, 5)]),
        ("a: x\x85y\nb: \x00\u2028\n", [("YML018", 1, 5), ("YML018", 2, 4)]),
        ("a: '\ufeff'\n# \ufeff\n\ufeffb: 1\n", [("YML018", 3, 1), ("YML002", 3, 2)]),
        ("# nothing\n", [("YML019", 1, 1)]),
        ("", [("YML019", 1, 1)]),
        ("---\n---\n", [("YML019", 1, 1)]),
    ],
)
def test_each_fault_has_its_code_and_place(
    text: str, want: list[tuple[str, int, int]], pure: bool
) -> None:
    assert _reported(text, pure=pure) == want


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a:\n  b: 1\n \u00a0c: 2\n", "U+00A0 at 3:2"),
        ("a:\u00a01\nb: 2\n", "U+00A0 at 1:3"),
        ("a: [1,\u3000[2\n", "U+3000 at 1:7"),
    ],
)
def test_a_space_that_is_none_is_named(text: str, where: str) -> None:
    (found,) = parse(SourceFile("f", text))[1]
    assert found.notes[0] == f"character {where} looks like a space and is none to YAML"
    assert not any(
        "looks like" in note
        for item in parse(SourceFile("f", "a: b: c\n"))[1]
        for note in item.notes
    )


def test_what_is_reported_of_line_ends_and_octals_is_true() -> None:
    facts = [
        (item.message, item.help)
        for item in parse(SourceFile("f", "a: x\u2028y\nb: \x01\nc: 02\nd: 010\ne: 01234567\n"))[1]
    ]
    assert [message for message, _ in facts[:2]] == [
        "character U+2028 ends a line in YAML 1.1 and not in YAML 1.2",
        "character U+0001 is not allowed in a YAML file",
    ]
    assert facts[2][1] == 'write `2` for the number, or `"02"` for the text'
    assert facts[3][1] == 'write `10` or (octal) `8` for the number, or `"010"` for the text'
    assert "(octal) `342391`" in (facts[4][1] or "")


def test_a_duplicate_key_shows_the_first_one_too() -> None:
    _, found = parse(SourceFile("f", "a: 1\na: 2\n"))
    assert [(str(span), label) for span, label in found[0].related] == [("f:1:1", "first set here")]


def test_an_alias_bomb_is_reported_once_and_costs_nothing() -> None:
    rows = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    rows += [
        f"{new}: &{new} [{','.join(['*' + old] * 10)}]"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert _reported("\n".join(rows)) == [("YML005", 4, 29)]


@pytest.mark.parametrize("text", ["a: [" + "1," * 60 + "]", "- 1\n" * 60, "a: 1\n---\n" * 60])
def test_the_number_of_values_is_bounded(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all documents; reported once, where it is too much."""
    monkeypatch.setattr("trainyard.language.source.compose.MAX_NODES", 50)
    (found,) = parse(SourceFile("f", text))[1]
    assert (found.code, found.message) == ("YML023", "`f` holds more than 50 values")
    assert found.span is not None
    monkeypatch.setattr("trainyard.language.source.compose.MAX_NODES", 500)
    assert parse(SourceFile("f", text))[1] == []


def test_chained_anchors_cannot_nest_without_bound() -> None:
    rows = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 90)]
    assert [code for code, _, _ in _reported("\n".join(rows))] == ["YML007"]


@pytest.mark.parametrize("inner", ["x", "{}", "[]", "{a: {}}", "{a: x}", "[[], [[x]]]"])
def test_an_alias_may_stand_as_deep_as_its_value(inner: str) -> None:
    def is_too_deep(text: str) -> bool:
        return [code for code, _, _ in _reported(text)] == ["YML007"]

    verdicts = set()
    for levels in range(MAX_DEPTH - 5, MAX_DEPTH + 2):
        written = f"- {inner}\n- {'[' * levels}{inner}{']' * levels}\n"
        shared = f"- &a {inner}\n- {'[' * levels}*a{']' * levels}\n"
        assert is_too_deep(written) is is_too_deep(shared), levels
        verdicts.add(is_too_deep(shared))
    assert verdicts == {True, False}


def test_an_alias_of_a_text_is_a_key() -> None:
    documents, found = parse(SourceFile("f", "a: &x k\n*x : b\n"))
    assert found == []
    assert documents[0].root.to_python() == {"a": "k", "k": "b"}


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("a: {{ .Values.x }}\n", "quote the value; template expressions are not expanded"),
        ("a: {b: {{ x }}}\n", "quote the value; template expressions are not expanded"),
        ("a: {[b]: c}\n", "use a string as key"),
        ("? {b: c}\n: d\n", "use a string as key"),
        ("? [a]\n: {{ x }}\n", "use a string as key"),
    ],
)
def test_a_template_is_told_from_a_key_that_is_a_mapping(text: str, help: str) -> None:
    _, found = parse(SourceFile("f", text))
    assert (found[0].code, found[0].help) == ("YML013", help)


def test_an_alias_stands_where_it_is_written() -> None:
    documents, found = parse(SourceFile("f", "a: &x {k: v}\nb: *x\nc: &y 5\nd: *y\n*y : 1\n"))
    assert [item.code for item in found] == ["YML013"]
    document = documents[0]
    assert document.root.to_python() == {"a": {"k": "v"}, "b": {"k": "v"}, "c": 5, "d": 5}
    assert str(document.span(Route(("b",)))) == "f:2:4"
    assert str(document.span(Route(("b", "k")))) == "f:1:11"
    assert str(document.span(Route(("d",)))) == "f:4:4"


def test_values_follow_the_yaml_1_2_core_schema() -> None:
    text = (
        "a: null\nb: ~\nc:\nd: true\ne: False\nf: 12\ng: -3\nh: 0x1F\ni: 1e3\nj: 8.03e9\nk: 1.5\nl: 2026-11-21\n"
        "m: 1.2.3\nnn: 20m\no: 'no'\np: \"010\"\nq: |\n  no\nr: 111122223333\nt: nope\nu: .5\nv: a:b\n"
        "w: 64Gi\nx: 10.0.0.0/16\ny1: 2026-11-21T10:00:00Z\nz: 80:80\n"
    )
    documents, found = parse(SourceFile("f", text))
    assert found == []
    assert documents[0].root.to_python() == {
        "a": None,
        "b": None,
        "c": None,
        "d": True,
        "e": False,
        "f": 12,
        "g": -3,
        "h": 31,
        "i": 1000.0,
        "j": 8.03e9,
        "k": 1.5,
        "l": "2026-11-21",
        "m": "1.2.3",
        "nn": "20m",
        "o": "no",
        "p": "010",
        "q": "no\n",
        "r": 111122223333,
        "t": "nope",
        "u": 0.5,
        "v": "a:b",
        "w": "64Gi",
        "x": "10.0.0.0/16",
        "y1": "2026-11-21T10:00:00Z",
        "z": "80:80",
    }


def test_places_are_one_based_in_characters_and_end_after_the_last() -> None:
    text = (
        "é: 'ü😀'\nlist:\n  - name: x\n    deep: {a: 1}\nempty:\nblock: |\n  one\n  two\nlast: 1\n"
    )
    document = parse(SourceFile("f", text))[0][0]
    span = document.span(Route(("é",)))
    assert (span.line, span.column, span.end_line, span.end_column) == (1, 4, 1, 8)
    assert str(document.span(Route(("list", 0, "deep", "a")))) == "f:4:15"
    whole = document.node(Route(("list", 0)))[0].span
    assert (whole.line, whole.column, whole.end_line, whole.end_column) == (3, 5, 4, 17)
    assert str(document.span(Route(("empty",)))) == "f:5:1"  # nothing is written: its key
    assert str(document.span(Route(("block",)))) == "f:6:1"  # several lines: its key
    assert str(document.span(Route(("list", 0, "missing")))) == "f:3:5"
    assert str(document.span(Route(("list", 0, "deep")), key=True)) == "f:4:5"


def test_every_document_of_a_stream_is_read_and_empty_ones_are_left_out() -> None:
    documents, found = parse(SourceFile("f", "---\na: 1\n---\n# none\n---\n- b\n...\n---\nc\n"))
    assert [document.root.to_python() for document in documents] == [{"a": 1}, ["b"], "c"]
    assert found == []


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff\xfea\x00", "YML016"),
        (b"\xfe\xff\x00a", "YML016"),
        ("a: 1\n".encode("utf-32"), "YML016"),
        ("a: 12\n".encode("utf-16-le"), "YML016"),
        ("a: 12\n".encode("utf-16-be"), "YML016"),
        (b"\x7fELF\x02\x01\x00\x00\x00", "YML017"),
    ],
)
def test_other_encodings_and_binary_files_are_refused(data: bytes, code: str) -> None:
    file, found = decode(data, "f")
    assert file is None
    assert [item.code for item in found] == [code]


def test_a_byte_that_is_not_utf8_is_shown_at_its_line() -> None:
    file, found = decode("a: 1\r\nb: é".encode() + b"\xe9!\n", "f")
    assert file is None
    assert found[0].code == "YML016"
    assert found[0].label == "byte 0xe9 does not belong here"
    assert found[0].span is not None
    assert str(found[0].span) == "f:2:5"
    assert found[0].span.file.line(2) == "b: é\ufffd!"


def test_a_byte_order_mark_and_crlf_are_accepted() -> None:
    file, found = decode(b"\xef\xbb\xbfa: 1\r\nb: 2\rc: no\n", "f")
    assert file is not None
    assert found == []
    documents, found = parse(file)
    assert documents[0].root.to_python() == {"a": 1, "b": 2, "c": "no"}
    assert [str(item.span) for item in found] == ["f:3:4"]


def test_files_that_cannot_be_read_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"a: 1\n")
    assert [item.code for item in read(tmp_path / "none.yaml")[1]] == ["YML020"]
    assert [item.code for item in read(tmp_path / "file" / "none.yaml")[1]] == ["YML020"]
    assert [item.code for item in read(tmp_path)[1]] == ["YML021"]
    assert [item.code for item in read("a\0b")[1]] == ["YML022"]
    (tmp_path / "loop").symlink_to("loop")
    assert [item.code for item in read(tmp_path / "loop")[1]] == ["YML022"]
    monkeypatch.setattr("trainyard.disk.inputs.MAX_BYTES", 4)
    assert [item.code for item in read(tmp_path / "file")[1]] == ["YML023"]
    assert [item.code for item in read("/dev/zero")[1]] == ["YML022"]


def test_a_file_without_permission_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "f").touch()
    monkeypatch.setattr("os.open", refuse)
    found = read(tmp_path / "f", "specs/f")[1]
    assert [(item.code, item.message) for item in found] == [
        ("YML022", "cannot read `specs/f`: permission denied")
    ]


@pytest.mark.slow
@given(
    st.from_regex(r"[-+]?[0-9._:xob]{1,12}([eE][-+]?[0-9]{1,3})?|[A-Za-z~]{1,5}", fullmatch=True)
)
@settings(max_examples=examples_of(400), deadline=None)
def test_what_we_accept_as_text_or_number_means_the_same_to_a_1_1_reader(text: str) -> None:
    """The exceptions are known: an exponent without a sign or point, and timestamps."""
    value = resolve(text)
    if isinstance(value, Refusal):
        return
    loader = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    old = loader.construct_object(yaml.ScalarNode(tag, text))
    if isinstance(value, float):
        assert isinstance(old, str | float)
        assert float(old) == value
    elif isinstance(value, str) and not isinstance(old, str):
        assert hasattr(old, "year")
    else:
        assert old == value


def _nodes(node: Node) -> list[Node]:
    below = list(node.items.values()) if isinstance(node, MappingNode) else []
    below = node.items if isinstance(node, SequenceNode) else below
    return [node, *(inner for child in below for inner in _nodes(child))]


PIECES = [
    "a",
    "b: ",
    "- ",
    "\n",
    "\n  ",
    "\t",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&x ",
    "*x",
    "|",
    ">",
    "#",
    "!t ",
    "---\n",
    "...",
    "? ",
    ": ",
    "no",
    "010",
    "%",
    "@",
    "é",
    "\x85",
    "<<: ",
    "\ud800",
    "😀",
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=examples_of(500), deadline=None)
def test_no_text_makes_the_parser_fail_and_every_place_is_in_the_file(text: str) -> None:
    documents, found = parse(SourceFile("f", text))
    lines = text.count("\n") + 1
    assert documents or found
    for item in found:
        assert item.span is not None
        assert 1 <= item.span.line <= lines
        assert 1 <= item.span.column <= len(item.span.file.line(item.span.line)) + 2
    for node in [node for document in documents for node in _nodes(document.root)]:
        assert 1 <= node.span.line <= lines


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES[:20]), max_size=15).map("".join))
@settings(max_examples=examples_of(300), deadline=None)
def test_a_clean_text_has_the_same_values_with_both_parsers(text: str) -> None:
    fast, slow = parse(SourceFile("f", text)), parse(SourceFile("f", text), pure=True)
    if not fast[1] and not slow[1]:
        assert [d.root.to_python() for d in fast[0]] == [d.root.to_python() for d in slow[0]]


def test_a_plain_scalar_keeps_its_text() -> None:
    node = parse(SourceFile("f", "version: 1.30\n"))[0][0].node(Route(("version",)))[0]
    assert isinstance(node, ScalarNode)
    assert (node.value, node.text, node.quoted) == (1.3, "1.30", False)


def test_half_a_character_is_no_escape() -> None:
    (found,) = parse(SourceFile("f", 'a: "x\\ud83d\\ude00"\n'))[1]
    assert (found.code, found.message) == (
        "YML002",
        "an escape in double quotes that names no character",
    )
    assert "eight digits" in found.help


def test_a_hundred_broken_documents_are_enough() -> None:
    """Each is parsed from a text of its own, so that more would take the square of their number."""
    found = parse(SourceFile("f", "---\na: [\n" * 20_000))[1]
    assert [item.code for item in found] == ["YML002"] * MAX_RESTARTS


def test_forbidden_characters_are_reported_once_a_line() -> None:
    """A line of nothing else is one fault, and a file of such lines is no text."""
    text = "a: 1\x01\nb: " + "\x02" * 200_000 + "\n" + "\x03\n" * 500
    found = [item for item in parse(SourceFile("f", text))[1] if item.code == "YML018"]
    assert len(found) == MAX_LINES
    assert [str(item.span) for item in found[:3]] == ["f:1:5", "f:2:4", "f:3:1"]
    assert [item.notes for item in found[:3]] == [(), ("199999 more of them on this line",), ()]
    assert found[-1].notes == ("402 more lines have such characters",)


def test_a_manifest_merges_as_kubectl_does() -> None:
    from trainyard.language.source.manifests import parse_manifests

    text = "base: &b {image: a, cpu: 1}\nmore: &m {cpu: 2, gpu: 8}\none: {<<: *b, image: own}\ntwo: {<<: [*b, *m]}\n"
    (document,), faults = parse_manifests(SourceFile("a.yaml", text))
    assert faults == []
    data = document.root.to_python()
    assert data["one"] == {"image": "own", "cpu": 1}
    assert data["two"] == {"image": "a", "cpu": 1, "gpu": 8}


def test_a_merge_key_may_have_its_tag() -> None:
    """yq writes it."""
    from trainyard.language.source.manifests import parse_manifests

    text = "base: &b {image: a}\none:\n  !!merge <<: *b\n  cpu: 1\ntwo: {!!str <<: 1}\n"
    (document,), faults = parse_manifests(SourceFile("a.yaml", text))
    assert document.root.to_python()["one"] == {"image": "a", "cpu": 1}
    assert [(fault.code, fault.message) for fault in faults] == [("YML014", "explicit tag `!!str`")]
