"""policy.yaml and exceptions.yaml: what they change, and what is reported about faults in them."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from running import SPECS, Command
from trainyard.catalog import load_catalog
from trainyard.judge.policy.config import Config, load_config
from trainyard.judge.policy.engine import run
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.run.passes import traced

from tests.policy.harness import builtin_rules, findings_for, lifted

TODAY = date(2026, 11, 21)
FAULTY = "jobs: [{name: llama, resources: {efa: 0}}]"


def config(
    tmp_path: Path, *, policy: str = "", exceptions: str = ""
) -> tuple[Config, list[tuple[str, int]]]:
    """The settings of two texts, and the code and line of each fault."""
    (tmp_path / "policy.yaml").write_text(policy)
    (tmp_path / "exceptions.yaml").write_text(exceptions)
    found, faults = load_config(tmp_path, builtin_rules(), TODAY)
    for each in faults:
        assert each.span is not None
        assert each.help
    return found, [(each.code, each.span.line if each.span else 0) for each in faults]


@pytest.mark.parametrize(
    ("key", "level", "want"),
    [
        ("EFA001", "warning", [("EFA001", Severity.WARNING)]),
        ("efa-missing", "note", [("EFA001", Severity.NOTE)]),
        ("EFA", "warning", [("EFA001", Severity.WARNING)]),
        ("EFA001", '"off"', []),
        ("EFA001", "false", []),
    ],
)
def test_levels(tmp_path: Path, key: str, level: str, want: list[tuple[str, Severity]]) -> None:
    found, faults = config(tmp_path, policy=f"levels: {{{key}: {level}}}\n")
    assert faults == []
    assert [(each.code, each.severity) for each in findings_for(FAULTY, config=found)] == want


@pytest.mark.parametrize("order", [("EFA: note", "EFA001: error"), ("EFA001: error", "EFA: note")])
def test_a_code_is_stronger_than_its_area(tmp_path: Path, order: tuple[str, str]) -> None:
    found, _ = config(tmp_path, policy="levels:\n  " + "\n  ".join(order) + "\n")
    assert [each.severity for each in findings_for(FAULTY, config=found)] == [Severity.ERROR]


def test_a_level_wins_over_a_findings_own_severity(tmp_path: Path) -> None:
    text = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec: {managedBy: kueue.x-k8s.io/multikueue}
"""
    assert [each.severity for each in findings_for(text)] == [Severity.WARNING]
    found, _ = config(tmp_path, policy="levels: {RUN003: error}\n")
    assert [each.severity for each in findings_for(text, config=found)] == [Severity.ERROR]


@pytest.mark.parametrize("level", ["", "levels: {PLC035: note}\n"])
def test_an_exception_for_a_rule_that_is_off_by_default(tmp_path: Path, level: str) -> None:
    """It is unused only where the rule has run."""
    item = "- {code: PLC035, object: 'NodePool/*', reason: a, until: 2027-01-31}\n"
    found, faults = config(tmp_path, policy=level, exceptions=item)
    assert faults == []
    kept, _ = found.excuse([])
    assert [each.code for each in kept] == (["POL001"] if level else [])


@pytest.mark.parametrize(
    "policy",
    [
        "levels: {no-nodes: note}\n",
        "levels: {job-without-nodes: note}\n",
        "levels: {RUN002: note}\n",
    ],
)
def test_a_former_slug_is_known(tmp_path: Path, policy: str) -> None:
    found, faults = config(
        tmp_path,
        policy=policy,
        exceptions="- {code: no-nodes, place: '*', reason: a, until: 2027-01-31}\n",
    )
    assert faults == []
    assert found.levels["RUN002"] is Severity.NOTE
    assert [each.code for each in found.exceptions] == ["RUN002"]


def test_params(tmp_path: Path) -> None:
    text = "kueue: {waitForPodsReady: {timeout: 25m}}"
    assert findings_for(text) == []
    found, faults = config(tmp_path, policy="params: {QUE010: {minutes: 30}}\n")
    assert faults == []
    assert [each.code for each in findings_for(text, config=found)] == ["QUE010"]


@pytest.mark.parametrize(
    ("policy", "want"),
    [
        ("levels:\n  EFA999: off\n", [("YML008", 2)]),
        ('levels:\n  EFA999: "off"\n', [("POL003", 2)]),
        ("levels:\n  efa-mising: note\n", [("POL003", 2)]),
        ('levels:\n  SCH001: "off"\n  REF: note\n', [("POL006", 2), ("POL006", 3)]),
        ("levels:\n  EFA001: fatal\n", [("POL007", 2)]),
        ("params:\n  QUE010:\n    minuets: 3\n", [("POL008", 3)]),
        ("params:\n  QUE010:\n    minutes: many\n", [("POL008", 3)]),
        ("level: {}\n", [("POL014", 1)]),
        ("level:\n  EFA001: note\n", [("POL014", 1)]),
        ("- EFA001\n", [("POL014", 1)]),
        ("levels: {EFA001: note\n", [("YML002", 1)]),
        ("# nothing yet\n", []),
        ("", []),
    ],
)
def test_faults_of_the_settings(tmp_path: Path, policy: str, want: list[tuple[str, int]]) -> None:
    _, faults = config(tmp_path, policy=policy)
    assert [line for _, line in faults] == [line for _, line in want]
    assert [code for code, _ in faults if code != "YML002"] == [
        code for code, _ in want if code != "YML002"
    ]


def test_did_you_mean(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("levels: {efa-mising: note}\n")
    _, faults = load_config(tmp_path, builtin_rules(), TODAY)
    assert faults[0].help == "did you mean `efa-missing`?"


ITEM = "{code: EFA001, object: 'TrainJob/*', reason: test, until: 2027-01-31}"


@pytest.mark.parametrize(
    ("item", "want"),
    [
        ("{code: EFA001, object: 'TrainJob/*', until: 2027-01-31}", ["POL004"]),
        ("{code: EFA001, object: 'TrainJob/*', reason: ' ', until: 2027-01-31}", ["POL004"]),
        ("{code: EFA001, object: 'TrainJob/*', reason: test, until: soon}", ["POL005"]),
        ("{code: EFA001, object: 'TrainJob/*', reason: test}", ["POL005"]),
        ("{code: EFA001, reason: test, until: 2027-01-31}", ["POL014"]),
        ("{object: 'TrainJob/*', reason: test, until: 2027-01-31}", ["POL014"]),
        ("{code: EFA01, object: 'TrainJob/*', reason: test, until: 2027-01-31}", ["POL003"]),
        ("{code: NAM001, object: 'TrainJob/*', reason: test, until: 2027-01-31}", ["POL006"]),
        ("{code: EFA001, objects: a, object: 'T*', reason: test, until: 2027-01-31}", ["POL014"]),
    ],
)
def test_faults_of_exceptions(tmp_path: Path, item: str, want: list[str]) -> None:
    found, faults = config(tmp_path, exceptions=f"- {item}\n")
    assert [code for code, _ in faults] == want
    assert found.exceptions == ()


@pytest.mark.parametrize(
    ("text", "allowed", "faults"),
    [
        (f"- {ITEM}\n", 1, []),
        (f"exceptions:\n- {ITEM}\n- {ITEM}\n", 2, []),
        ("exceptions:\n", 0, []),
        ("exceptions: []\n", 0, []),
        (f"exceptions: {ITEM}\n", 0, ["the exceptions are not a list"]),
        ("exceptions: none\n", 0, ["the exceptions are not a list"]),
        ("none\n", 0, ["the exceptions are not a list"]),
        (f"exception:\n- {ITEM}\n", 0, ["unknown key `exception`"]),
    ],
)
def test_exceptions_are_a_list(tmp_path: Path, text: str, allowed: int, faults: list[str]) -> None:
    """By itself, or under a key."""
    (tmp_path / "exceptions.yaml").write_text(text)
    found, wrong = load_config(tmp_path, builtin_rules(), TODAY)
    assert len(found.exceptions) == allowed
    assert [(each.code, each.message) for each in wrong] == [("POL014", each) for each in faults]


@pytest.mark.needs("lint")
@pytest.mark.parametrize(
    ("place", "excused"),
    [("a.yaml", 1), ("a.yaml:4", 1), ("*.yaml:4", 1), ("a.yaml:5", 0), ("b.yaml", 0)],
)
def test_a_place_is_a_file_or_a_line_of_it(
    place: str, excused: int, trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "policies").mkdir()
    item = f"{{code: RUN077, place: '{place}', reason: test bed, until: 2999-01-31}}"
    (tmp_path / "policies" / "exceptions.yaml").write_text(f"- {item}\n")
    (tmp_path / "a.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: iperf3, namespace: team-a}\n"
        "spec: {containers: [{name: iperf3, image: networkstatic/iperf3, args: [-s]}]}\n"
    )
    done = trainyard("lint", "a.yaml", "--policies", "policies", "--format", "json", cwd=tmp_path)
    codes = [each["code"] for each in json.loads(done.out)["diagnostics"]]
    assert codes.count("RUN077") == 1 - excused


def judged(tmp_path: Path, exceptions: str) -> tuple[list[tuple[str, Severity]], int]:
    """Findings of the faulty example under exceptions, and how many were excused."""
    found, faults = config(tmp_path, exceptions=exceptions)
    assert faults == []
    plan, manifests = lifted(FAULTY)
    findings = traced(run(plan, load_catalog(), builtin_rules(), found, manifests), manifests)
    kept, excused = found.excuse(findings)
    return [(each.code, each.severity) for each in kept], len(excused)


@pytest.mark.parametrize(
    "where",
    [
        "object: TrainJob/team-a/llama-*",
        "place: 'spec.jobs[0]*'",
        "object: 'TrainJob/*', place: spec.jobs*",
    ],
)
def test_an_exception_excuses(tmp_path: Path, where: str) -> None:
    item = f"- {{code: EFA001, {where}, reason: test bed, until: 2026-11-21}}\n"
    assert judged(tmp_path, item) == ([], 1)


def test_an_exception_for_another_object_is_unused(tmp_path: Path) -> None:
    item = "- {code: EFA001, object: TrainJob/team-b/*, reason: test bed, until: 2027-01-31}\n"
    assert judged(tmp_path, item) == ([("EFA001", Severity.ERROR), ("POL001", Severity.WARNING)], 0)


ELSEWHERE = "- {code: EFA001, object: TrainJob/team-b/*, reason: test bed, until: 2027-01-31}\n"


def test_an_exception_is_unused_only_where_its_rule_has_run(tmp_path: Path) -> None:
    """Whoever removes it on such an advice has the finding back when the run is whole again."""
    found, _ = config(tmp_path, exceptions=ELSEWHERE)
    (unused,), _ = found.excuse([])
    assert (unused.code, unused.help) == ("POL001", "remove it")
    assert found.excuse([], judged=False)[0] == []
    failed = Diagnostic("POL015", Severity.ERROR, "rule `ORG001` failed")
    assert found.excuse([failed])[0] == [failed]
    assert found.excuse([], everything=False)[0] == []
    off, _ = config(tmp_path, policy='levels: {EFA001: "off"}', exceptions=ELSEWHERE)
    assert off.excuse([])[0] == []


@pytest.mark.needs("lint")
def test_no_exception_is_unused_where_policies_did_not_run(
    trainyard: Command, tmp_path: Path
) -> None:
    """A spec that cannot be resolved, and manifests of which some cannot be read."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "exceptions.yaml").write_text(ELSEWHERE)
    text = (SPECS / "starter.yaml").read_text(encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(text)
    assert "POL001" in trainyard("check", ".", cwd=tmp_path).out
    (tmp_path / "spec.yaml").write_text(text.replace("g6e.48xlarge", "g6e.49xlarge"))
    done = trainyard("check", ".", cwd=tmp_path)
    assert "RES005" in done.out
    assert "POL001" not in done.out
    (tmp_path / "spec.yaml").unlink()
    sound = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
    for text, code in (
        (sound, "POL001"),
        (f"{sound}---\na: [\n", "YML002"),
        (f"{sound}specs: {{}}\n", "SCH001"),
    ):
        (tmp_path / "a.yaml").write_text(text)
        done = trainyard("lint", ".", "--policies", "policies", cwd=tmp_path)
        assert code in done.out
        assert ("POL001" in done.out) is (code == "POL001")


def test_an_expired_exception_excuses_nothing(tmp_path: Path) -> None:
    item = "- {code: EFA001, object: 'TrainJob/*', reason: test bed, until: 2026-11-20}\n"
    assert judged(tmp_path, item) == ([("EFA001", Severity.ERROR), ("POL002", Severity.ERROR)], 0)


def test_an_exception_that_has_ended_is_as_grave_as_what_it_excused(tmp_path: Path) -> None:
    item = "- {code: EFA001, object: 'TrainJob/*', reason: test bed, until: 2026-11-20}\n"
    found, _ = config(tmp_path, exceptions=item)
    finding = Diagnostic("EFA001", Severity.WARNING, "no EFA", object="TrainJob/team-a/llama")
    kept, excused = found.excuse([finding])
    assert [each.severity for each in kept] == [Severity.WARNING, Severity.WARNING]
    assert excused == []


def test_no_folder_is_no_settings() -> None:
    assert load_config(None, builtin_rules(), TODAY) == (Config(today=TODAY), [])


@pytest.mark.slow
def test_an_exception_of_another_cluster_is_not_called_unused(
    trainyard: Command, tmp_path: Path
) -> None:
    """Whoever checks a cluster of several does not learn what the others need."""
    text = (SPECS / "starter.yaml").read_text(encoding="utf-8")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "exceptions.yaml").write_text(ELSEWHERE)
    for name in ("one", "two"):
        folder = tmp_path / "specs" / name
        folder.mkdir(parents=True)
        named = text.replace("name: starter", f"name: {name}")
        (folder / "cluster.yaml").write_text(named)
    assert "POL001" in trainyard("check", cwd=tmp_path).out
    assert "POL001" not in trainyard("check", "specs/one", cwd=tmp_path).out
    assert trainyard("compile", cwd=tmp_path).code == 0
    (tmp_path / "specs").rename(tmp_path / "clusters")
    for head in tmp_path.glob("generated/*/.manifest.json"):
        written = head.read_text().replace('"specs/', '"clusters/')
        head.write_text(written)
    assert "POL001" in trainyard("check", "clusters", cwd=tmp_path).out
    assert "POL001" not in trainyard("check", "clusters/one", cwd=tmp_path).out
