"""Of a Secret nothing below `data` and `stringData` is shown: in no form of YAML, whoever speaks of it."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Command
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.render import FORMATS, render
from trainyard.language.diagnostics.sealed import sealed
from trainyard.language.places import SourceFile, Span

pytestmark = pytest.mark.needs("lint")

HIDDEN = "Sw0rdfish"
CODED = base64.b64encode(HIDDEN.encode()).decode()
HEAD = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: team-a}\n"
BODY = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "db"},
    "data": {"a": CODED},
    "stringData": {"b": HIDDEN, "c": f"x:\n  {HIDDEN}\n"},
}
FORMS = {
    "plain": f"{HEAD}stringData:\n  a: {HIDDEN}\n  b: other\n",
    "coded": f"{HEAD}data:\n  a: {CODED}\n",
    "more padding": f"{HEAD}data:\n  a: {CODED}====\n",
    "before the kind": f"data:\n  a: {CODED}\n{HEAD}",
    "quoted": f'"kind": "Secret"\n"stringData":\n  "a": "{HIDDEN}"\n',
    "a block": f"{HEAD}stringData:\n  a: |\n    user: {HIDDEN}\n\n    {HIDDEN}\n",
    "several lines": f"{HEAD}stringData:\n  a: one\n    {HIDDEN}\n    two\n",
    "a list": f"{HEAD}stringData:\n  - {HIDDEN}\n  - a: {HIDDEN}\n",
    "no mapping": f"{HEAD}stringData: {HIDDEN}\n",
    "no mapping, later": f"{HEAD}stringData:\n  {HIDDEN}\n",
    "flow": f"{HEAD}stringData: {{a: {HIDDEN}, b: [{{c: {HIDDEN}}}]}}\n",
    "flow of lines": f"{HEAD}stringData: {{\na: {HIDDEN},\nb: {HIDDEN}}}\n",
    "all in one": f"{{apiVersion: v1, kind: Secret, stringData: {{a: {HIDDEN}}}}}\n",
    "an anchor": f"{HEAD}stringData: &x !!map # of the team\n  a: {HIDDEN}\n",
    "in a list": "apiVersion: v1\nkind: List\nitems:\n- "
    + HEAD.replace("\n", "\n  ").rstrip()
    + f"\n  stringData:\n    a: {HIDDEN}\n",
    "after another": f"kind: ConfigMap\ndata: {{a: b}}\n---\n{HEAD}stringData:\n  a: {HIDDEN}\n",
    "broken": f"{HEAD}stringData:\n  a: {HIDDEN}\n :b: [{HIDDEN}\n  c: {{{HIDDEN}\n",
    "carriage returns": f"{HEAD}stringData:\n  a: {HIDDEN}\n".replace("\n", "\r\n"),
    "JSON": json.dumps(BODY),
    "JSON of lines": json.dumps(BODY, indent=2),
    "YAML": yaml.safe_dump(BODY),
}


@pytest.mark.parametrize("form", FORMS)
def test_no_value_is_left(form: str) -> None:
    text = FORMS[form]
    shown = sealed(text)
    assert HIDDEN not in shown
    assert CODED not in shown
    assert len(shown) == len(text)
    assert [len(line) for line in shown.split("\n")] == [len(line) for line in text.split("\n")]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", FORMS)
def test_no_format_shows_a_value_wherever_a_finding_is(form: str, format: str) -> None:
    """A finding at each character, which quotes the value in each of its parts."""
    file = SourceFile("set.yaml", FORMS[form])
    said = f"`{HIDDEN}`, `{CODED}`"
    found = [
        Diagnostic(
            "ORG001", Severity.ERROR, said, None, span, said, (said,), said, related=((span, said),)
        )
        for span in _spans(file)
    ]
    more: dict[str, Any] = {"pages": {}} if format == "sarif" else {}
    shown = render(format, found, tool_version="1", **more)
    assert shown
    assert HIDDEN not in shown
    assert CODED not in shown


def _spans(file: SourceFile) -> list[Span]:
    starts = [file.position(offset) for offset in range(0, len(file.text), 3)]
    return [Span(file, *first, *second) for first, second in pairwise(starts)]


def test_what_is_no_secret_stays(tmp_path: Path, trainyard: Command) -> None:
    for text in (
        f"kind: ConfigMap\ndata:\n  a: {HIDDEN}\n",
        f"kind: ExternalSecret\nspec:\n  data:\n  - a: {HIDDEN}\n",
        f"{HEAD}metadata:\n  labels:\n    a: {HIDDEN}\n",
    ):
        assert sealed(text) == text
    (tmp_path / "set.yaml").write_text(FORMS["more padding"].replace("metadata", "metdata"))
    done = trainyard("lint", "set.yaml", cwd=tmp_path)
    assert "metdata" in done.out + done.err
    assert CODED not in done.out + done.err
