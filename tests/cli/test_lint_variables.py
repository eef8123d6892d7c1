"""Variables that stand for lines of a file or in braces, and slips: what is judged is the file as it was meant."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import Linted, lint
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  imagee: b
  containers:
  - name: a
    image: a:1
    resources:
      limits:
        nvidia.com/gpu: 1
LIMITS
      requests:
        cpu: 1
        memory: 1Gi
REQUESTS
"""


def linted(tmp_path: Path, text: str) -> Linted:
    (tmp_path / "pod.yaml").write_text(text, encoding="utf-8")
    return lint([tmp_path], Options(today=date(2026, 11, 24)))


def found(result: Linted) -> list[tuple[str, int]]:
    """What is found but that values are left so (``test_lint_unfilled.py``)."""
    lines = ((each.code, each.span.line) for each in result.diagnostics if each.span is not None)
    return sorted((code, line) for code, line in lines if code != "SCH055")


@pytest.mark.parametrize("form", ["${%s}", "$%s", "<%s>", "{{ %s }}", "        ${%s}"])
def test_alone_on_a_line_of_a_mapping(form: str, tmp_path: Path) -> None:
    text = POD.replace("REQUESTS", form % "REQUESTS").replace("LIMITS", form % "LIMITS")
    result = linted(tmp_path, text)
    assert found(result) == [("SCH001", 5)]
    names = f"{form.strip() % 'LIMITS'}, {form.strip() % 'REQUESTS'}"
    assert f"2 values to be filled in ({names})" in "\n".join(result.coverage.lines(findings=True))


def test_alone_on_a_line_of_a_list(tmp_path: Path) -> None:
    text = POD.replace("LIMITS\n", "").replace("REQUESTS\n", "  - ${MORE}\n")
    assert found(linted(tmp_path, text)) == [("SCH001", 5)]


@pytest.mark.parametrize(
    "metadata",
    [
        "{name: ${NAME}, namespace: team-a}",
        "{name: a, labels: {app: ${APP}, tier: 'x${Y}'}}",
        "{name: a, finalizers: [${ONE}, ${TWO:-x/y}]}",
        "{name: a, annotations: {image: registry.test/${APP}:${TAG}}}",
    ],
)
def test_in_a_flow_mapping(metadata: str, tmp_path: Path) -> None:
    text = POD.replace("LIMITS\n", "").replace("REQUESTS\n", "").replace("{name: a}", metadata, 1)
    result = linted(tmp_path, text)
    assert found(result) == [("SCH001", 5)]


def test_the_summary_names_it_as_it_is_written(tmp_path: Path) -> None:
    text = POD.replace("LIMITS\n", "").replace("REQUESTS\n", "")
    text = text.replace("{name: a}", "{name: a, namespace: ${TEAM:-research}}", 1)
    lines = linted(tmp_path, text).coverage.lines(findings=True)
    assert "not judged: 1 value to be filled in (${TEAM})" in lines


@pytest.mark.parametrize(
    "text",
    [
        POD.replace("LIMITS", "limits").replace("REQUESTS", "requests"),
        POD.replace("LIMITS", "${LIMITS}").replace("REQUESTS", "requests"),
        POD.replace("LIMITS", "{{ if .Values.a }}").replace("REQUESTS", "{{ end }}"),
    ],
)
def test_what_is_no_yaml_with_a_value_either(text: str, tmp_path: Path) -> None:
    """Words that are no variables, and conditions of a template, of which nobody knows which hold."""
    codes = {code for code, _ in found(linted(tmp_path, text))}
    assert codes
    assert codes <= {"YML002", "LNT002"}


def test_one_variable_twice_in_a_mapping_is_no_duplicate_key(tmp_path: Path) -> None:
    text = POD.replace("LIMITS", "${ONE}\n${ONE}").replace("REQUESTS\n", "")
    assert found(linted(tmp_path, text)) == [("SCH001", 5)]


@pytest.mark.slow
def test_a_line_is_looked_at_once(tmp_path: Path) -> None:
    """Thousands of variables take as much time as they are long: 200,000 took a minute."""
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{'${A}' + chr(10)}".replace(
        "${A}\n", "${A}\n" * 20_000
    )
    result = linted(tmp_path, text)
    assert result.diagnostics == []


@pytest.mark.parametrize(
    ("begins", "ends"), [("{% if gpu %}", "{% endif %}"), ("%{ if gpu }", "%{ endif }")]
)
def test_conditions_of_jinja_and_terraform_are_a_template(
    tmp_path: Path, begins: str, ends: str
) -> None:
    text = f"{begins}\napiVersion: v1\n{ends}\nkind: ConfigMap\nmetadata: {{name: a}}\n"
    assert found(linted(tmp_path, text)) == [("LNT002", 1)]


def test_a_slip_beside_what_is_meant_hides_no_place(tmp_path: Path) -> None:
    """What lies below the right field is reported where it is written, and not at the one that is nearly called so."""
    text = POD.replace("LIMITS\n", "").replace("REQUESTS\n", "").replace("  imagee: b\n", "")
    text = text.replace("spec:\n", "sepc: 1\nspec:\n", 1).replace("image: a:1", "image: a:latest")
    places = found(linted(tmp_path, text))
    assert ("SCH001", 4) in places
    assert ("RUN013", 8) in places


def test_a_spec_that_is_indented_too_far_is_judged(tmp_path: Path) -> None:
    lines = POD.replace("LIMITS\n", "").replace("REQUESTS\n", "").replace("a:1", "a:latest")
    head, _, spec = lines.partition("spec:\n")
    head = head.replace("{name: a}", "\n  name: a").rstrip()
    indented = "".join(f"  {line}\n" for line in f"spec:\n{spec}".splitlines())
    places = found(linted(tmp_path, f"{head}\n{indented}"))
    assert ("RUN013", 9) in places
