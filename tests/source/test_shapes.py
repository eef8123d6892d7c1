"""Documents read by the template of their shape are those that the parser reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import Command
from trainyard.extensions.lint.plain import PlainReader, plain_values

pytestmark = pytest.mark.needs("lint")

JOB = """\
# Written by hand: jobs/{name}.yaml
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  labels: {{team: research}}
spec:
  suspend: {flag}
  trainer:
    numNodes: {number}
    command:
    - torchrun
    - {quoted}
    env:
    - name: A
      value: {name}
    resourcesPerNode: {{}}
"""
SCALARS = st.one_of(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_./@=+-]{0,6}(:[A-Za-z0-9_./@=+-]{1,3})?", fullmatch=True),
    st.sampled_from(
        [
            "true",
            "yes",
            "null",
            "1",
            "1.0",
            "1e3",
            "0x1F",
            "0755",
            "22:30",
            "2026-01-01",
            "~x",
            "1_000",
        ]
    ),
)
QUOTED = st.sampled_from(
    ['"--seed=1"', "'a b: c # d'", '"1"', "'yes'", '""', '"a\\tb"', "'it''s'", '"{x: [y]}"']
)
DOCUMENTS = st.builds(
    lambda **values: JOB.format(**values), name=SCALARS, flag=SCALARS, number=SCALARS, quoted=QUOTED
)


def typed(value: object) -> str:
    """A value with the class of each of its parts."""
    return repr(value)


@pytest.mark.slow
@given(st.lists(DOCUMENTS, min_size=1, max_size=8), st.booleans())
def test_a_template_changes_no_value(documents: list[str], together: bool) -> None:
    reader = PlainReader()
    texts = ["---\n".join(documents)] if together else documents
    for text in texts:
        assert typed(reader.values(text)) == typed(plain_values(text))


PARTS = [
    "a: ",
    "- ",
    "b",
    "1",
    "x:y",
    "# c: d",
    '"',
    "'",
    "|",
    ">",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\n",
    "\n  ",
    "\n    ",
    ": ",
    "---\n",
    "...",
    "%YAML 1.2\n",
    "&a ",
    "*a",
    "<<: ",
    "? ",
    "é",
    "\t",
]


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.sampled_from(["z", "2", "true"])
)
def test_whatever_the_text(text: str, other: str) -> None:
    """Read three times, with another scalar at the last: by the parser, as a template, by the template."""
    reader = PlainReader()
    for each in (text, text, text.replace("1", other).replace("b", other)):
        assert typed(reader.values(each)) == typed(plain_values(each))


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  key: {0}\n",
        "a: first\n  second: {0}\n",
        "a: {{b: {0}\n}}\n",
        'a: "x\n  # y: {0}\n  z"\n',
        "a: {0}\n  more\n",
        "- - {0}\n  - {0}\n",
        "? a: {0}\n: b\n",
        "a: {0} # b: c\n",
        "# a: {0}\nb: {0}\n",
        '{{"a":\n  "b": {0}\n}}\n',
    ],
)
def test_what_only_looks_like_a_scalar(text: str) -> None:
    reader = PlainReader()
    for scalar in ("one", "two", "3", "four:five"):
        read = text.format(scalar)
        assert typed(reader.values(read)) == typed(plain_values(read)), read


def test_equal_parts_are_one_object() -> None:
    reader = PlainReader()
    documents = [
        JOB.format(name=f"job-{number}", flag="false", number="2", quoted='"a"')
        for number in range(4)
    ]
    *_, third, fourth = [(reader.values(text) or [])[0] for text in documents]
    assert third["spec"]["trainer"]["command"] is fourth["spec"]["trainer"]["command"]
    assert third["metadata"] is not fourth["metadata"]
    assert third["metadata"] != fourth["metadata"]


def test_numbers_texts_and_flags_stay_apart() -> None:
    """`1`, `1.0`, `true` and `"1"` are equal, or nearly so, to Python."""
    reader = PlainReader()
    texts = [
        f"a:\n  b: {scalar}\n" for scalar in ("x", "x", "1", "1.0", "true", '"1"', "1", "true")
    ]
    assert [typed((reader.values(text) or [])[0]["a"]["b"]) for text in texts] == [
        "'x'",
        "'x'",
        "1",
        "1.0",
        "True",
        "'1'",
        "1",
        "True",
    ]


def test_a_fault_of_a_shared_part_is_found_in_every_object(
    trainyard: Command, tmp_path: object
) -> None:
    """What is one object is judged once only where it is without fault."""
    folder = tmp_path
    for number in range(4):
        text = JOB.format(name=f"job-{number}", flag="false", number="2", quoted='"a"')
        (folder / f"{number}.yaml").write_text(  # type: ignore[operator]
            text.replace(
                "    resourcesPerNode: {}",
                "    resourcesPerNode:\n      limits:\n        cpu: 1 core\n      requets: a",
            )
        )
    done = trainyard("lint", folder)
    assert done.out.count("error[SCH001]: unknown field `requets`") == 4
