"""`extends` of jobs and pools, and `jobDefaults`: what is laid upon what, and that each value keeps its line."""

from __future__ import annotations

from typing import Any

import pytest
from builders import document
from trainyard.core.jobs.spec import JobsSection
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places import Document, Route
from trainyard.language.source.inherit import inherit
from trainyard.run.language.load import load

HEAD = """apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: lab}
spec:
  account: "111122223333"
  region: us-west-2
  nodePools:
    - {name: gpu, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: {max: 4}}
"""


def inherited(text: str) -> tuple[Document, list[Diagnostic]]:
    """The document with every job and pool whole."""
    root, found = inherit(document(HEAD + text).root)
    return Document(root), found


def jobs(text: str) -> list[dict[str, Any]]:
    whole, found = inherited(text)
    assert found == []
    given: list[dict[str, Any]] = whole.root.to_python()["spec"]["jobs"]
    return given


def faults(text: str) -> list[tuple[str, int, str]]:
    """Code, line below the head, and message of what is wrong with the names."""
    lines = HEAD.count("\n")
    return [
        (found.code, found.span.line - lines, found.message)
        for found in inherited(text)[1]
        if found.span is not None
    ]


def test_a_job_has_the_defaults_that_it_does_not_say() -> None:
    (first, second) = jobs("""
  jobDefaults:
    image: r.test/a:1
    command: [torchrun, a.py]
    env: {A: "1", B: "2"}
    resources: {cpu: 3}
    args: [--x]
  jobs:
    - {name: a}
    - {name: b, image: "r.test/b:1", env: {B: "3"}, resources: {efa: 1}, args: []}
""")
    assert first == {
        "name": "a",
        "image": "r.test/a:1",
        "command": ["torchrun", "a.py"],
        "env": {"A": "1", "B": "2"},
        "resources": {"cpu": 3},
        "args": ["--x"],
    }
    assert second["image"] == "r.test/b:1"
    assert second["env"] == {"A": "1", "B": "3"}
    assert second["resources"] == {"cpu": 3, "efa": 1}
    assert second["args"] == []


def test_a_chain_wins_over_the_defaults_and_the_nearest_wins() -> None:
    found = jobs("""
  jobDefaults: {nodes: 1, timeout: 1h, torchVersion: "2.12"}
  jobs:
    - {name: c, extends: b, rerun: 0}
    - {name: b, extends: a, nodes: 3, completed: true}
    - {name: a, nodes: 2, timeout: 2h, rerun: 4}
""")
    assert found[0] == {
        "name": "c",
        "extends": "b",
        "nodes": 3,
        "timeout": "2h",
        "torchVersion": "2.12",
        "rerun": 0,
    }
    assert found[1]["completed"] is True
    assert "rerun" not in found[1]


@pytest.mark.parametrize("key", ["name", "rerun", "completed", "extends"])
def test_what_is_of_one_job_alone_is_never_inherited(key: str) -> None:
    first = {"name": "name: a", "extends": "name: a, extends: c"}.get(key, f"name: a, {key}: true")
    found = jobs(f"""
  jobs:
    - {{{first}}}
    - {{name: b, extends: a}}
    - {{name: c}}
""")
    assert found[1] == {"name": "b", "extends": "a"}


def test_lists_and_choices_are_replaced_as_a_whole() -> None:
    found = jobs("""
  jobDefaults:
    topology: {required: hostname}
    volumes: [{name: a, path: /a}, {name: b, path: /b}]
  jobs:
    - {name: a, topology: {preferred: hostname}, volumes: [{name: a, path: /c}]}
""")
    assert found[0]["topology"] == {"preferred": "hostname"}
    assert found[0]["volumes"] == [{"name": "a", "path": "/c"}]


def test_a_null_removes_what_is_inherited_and_nothing_else() -> None:
    found = jobs("""
  jobDefaults: {checkpoint: {path: /a, every: 1h}}
  jobs:
    - {name: a, checkpoint: null}
    - {name: b, checkpoint: {every: null}}
    - {name: c, timeout: null}
""")
    assert "checkpoint" not in found[0]
    assert found[1]["checkpoint"] == {"path": "/a"}
    assert found[2]["timeout"] is None


def test_pools_extend_each_other() -> None:
    text = (
        HEAD
        + "    - {name: second, extends: gpu, zones: [us-west-2c], nodes: 4}\n"
        + "    - {name: third, extends: second, capacity: {spot: {}}}\n"
    )
    root, found = inherit(document(text).root)
    assert found == []
    pools = root.to_python()["spec"]["nodePools"]
    assert pools[1]["instanceTypes"] == ["p4d.24xlarge"]
    assert pools[1]["nodes"] == 4
    assert pools[2]["zones"] == ["us-west-2c"]
    assert pools[0] == {
        "name": "gpu",
        "instanceTypes": ["p4d.24xlarge"],
        "zones": ["us-west-2b"],
        "nodes": {"max": 4},
    }


def test_each_value_keeps_its_line() -> None:
    whole, _ = inherited("""
  jobDefaults:
    resources: {cpu: 3}
  jobs:
    - name: a
      image: r.test/a:1
    - name: b
      extends: a
      resources: {efa: 2}
""")
    start = HEAD.count("\n")
    at = Route(("spec", "jobs", 1))

    def line(*keys: str) -> int:
        return whole.span(at / keys).line - start

    assert line("resources", "cpu") == 3
    assert line("resources", "efa") == 9
    assert line("image") == 6
    assert line("name") == 7
    assert line("timeout") == 7  # what nobody says is missing in the job itself


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        (
            "  jobs:\n    - {name: a, extends: bb}\n    - {name: b}\n",
            "YML060",
            2,
            "job `bb` is not declared",
        ),
        (
            "  jobs:\n    - {name: a, extends: a}\n",
            "YML061",
            2,
            "`extends` goes in a circle: a → a",
        ),
        (
            "  jobs:\n    - {name: a, extends: b}\n    - {name: b, extends: c}\n    - {name: c, extends: b}\n",
            "YML061",
            4,
            "`extends` goes in a circle: b → c → b",
        ),
        ("    - {name: x, extends: jobs}\n", "YML060", 1, "pool `jobs` is not declared"),
    ],
)
def test_a_name_that_leads_nowhere_is_reported_once(
    text: str, code: str, line: int, message: str
) -> None:
    assert faults(text) == [(code, line, message)]


@pytest.mark.parametrize(
    ("others", "help"),
    [
        ("", "declare the job"),
        ("    - {name: first}\n", "write one of `first`"),
        ("    - {name: trian}\n", "did you mean `trian`?"),
    ],
)
def test_what_may_stand_there_is_said(others: str, help: str) -> None:
    _, [found] = inherited(f"  jobs:\n    - {{name: a, extends: train}}\n{others}")
    assert found.help == help


@pytest.mark.parametrize(
    "text",
    [
        "  jobs: 3\n",
        "  jobs: [a, 3, null]\n",
        "  jobs: [{extends: [a]}, {name: 3}]\n",
        "  jobDefaults: [a]\n",
    ],
)
def test_what_has_another_shape_is_left_to_the_spec(text: str) -> None:
    plain = document(HEAD + text).root.to_python()
    whole, found = inherited(text)
    assert found == []
    assert whole.root.to_python() == plain
    assert load(whole)[0] is None


def test_what_jobs_inherit_is_refused_once_where_it_stands() -> None:
    whole, _ = inherited("""
  jobDefaults:
    image: r.test/a
    command: [torchrun, a.py]
    resources: {efa: -1, tries: 2}
  jobs:
    - {name: a}
    - {name: b}
""")
    start = HEAD.count("\n")
    found = load(whole)[1]
    reported = [
        (each.code, whole.span(each.at or Route(), key=each.key).line - start) for each in found
    ]
    assert sorted(reported) == [("SPC002", 5), ("SPC004", 5), ("SPC005", 3)]


@pytest.mark.parametrize("key", ["name", "extends", "rerun", "completed", "nods"])
def test_defaults_have_the_keys_of_a_job_that_can_be_inherited(key: str) -> None:
    whole, _ = inherited(f"\n  jobDefaults: {{{key}: a}}\n")
    (found,) = load(whole)[1]
    assert (found.code, str(found.at)) == ("SPC002", f"spec.jobDefaults.{key}")
    assert "`" in found.help


def test_defaults_without_a_job_are_sound() -> None:
    whole, _ = inherited("\n  jobDefaults: {image: 'r.test/a:1', nodes: 2}\n")
    model, found = load(whole)
    assert found == []
    assert model is not None
    assert JobsSection.of(model.spec).job_defaults["nodes"] == 2
