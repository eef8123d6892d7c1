"""Rules in CEL: a ValidatingAdmissionPolicy in the folder of policies is a rule like any other, and needs no trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import data_of, dumped
from trainyard.extensions.declared_rules.admission_rule import plural
from trainyard.judge.policy.load import load_rules
from trainyard.language.diagnostics import Severity
from trainyard.run.driver import check
from trainyard.run.outcome import Options

from tests.spec.test_unlikely_values import BASE, TODAY

POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: jobs-end
  annotations:
    trainyard.dev/code: ORG001
    trainyard.dev/severity: warning
    trainyard.dev/help: "write `timeout`"
    trainyard.dev/description: A job has no deadline of a day at most.
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [trainer.kubeflow.org], apiVersions: [v1alpha1], operations: [CREATE], resources: [trainjobs]}
  matchConditions:
  - {name: large, expression: "object.spec.trainer.numNodes > 2"}
  variables:
  - {name: hours, expression: "object.spec.activeDeadlineSeconds / 3600"}
  validations:
  - expression: "variables.hours <= 24"
    messageExpression: "'it may run for ' + string(variables.hours) + ' hours'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: jobs-end}
spec: {policyName: jobs-end, validationActions: [Deny]}
"""


def policy_body() -> dict[str, Any]:
    """The policy without its binding."""
    body: dict[str, Any] = data_of(POLICY.partition("---")[0])
    return body


def policy(**spec: Any) -> str:
    data = policy_body()
    data["spec"] |= spec
    return dumped(data)


def validation(expression: str) -> str:
    return policy(matchConditions=[], variables=[], validations=[{"expression": expression}])


def found(tmp_path: Path, text: str, timeout: str = "48h") -> list[Any]:
    """What is said of the base with a rule, but for what the built-in rules say."""
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "rule.yaml").write_text(text)
    spec = data_of(BASE)
    spec["spec"]["jobs"][0]["timeout"] = timeout
    (tmp_path / "spec.yaml").write_text(dumped(spec))
    outcome = check([tmp_path / "spec.yaml"], Options(today=TODAY, policies=folder))
    return outcome.all()


def test_a_policy_of_a_cluster_judges_what_is_compiled(tmp_path: Path) -> None:
    (fault,) = found(tmp_path, POLICY)
    assert fault.code == "ORG001"
    assert fault.severity is Severity.WARNING
    assert fault.message == "it may run for 48 hours"
    assert fault.help == "write `timeout`"


def test_a_condition_that_does_not_hold_leaves_the_object_alone(tmp_path: Path) -> None:
    text = policy(
        matchConditions=[{"name": "x", "expression": "object.spec.trainer.numNodes > 64"}]
    )
    assert found(tmp_path, text) == []


@pytest.mark.parametrize(("label", "count"), [("trainyard", 1), ("somebody", 0)])
def test_only_objects_with_its_labels_are_judged(label: str, count: int, tmp_path: Path) -> None:
    labels = {"matchLabels": {"app.kubernetes.io/managed-by": label}}
    text = policy(matchConstraints={**TRAIN_JOBS, "objectSelector": labels})
    assert len(found(tmp_path, text)) == count


@pytest.mark.parametrize(
    ("expression", "message", "said"),
    [
        ("'it has ' + string(object.spec.trainer.numNodes) + ' nodes'", "no", "it has 4 nodes"),
        ("'it has ' + string(object.spec.none) + ' nodes'", "too many", "too many"),
        ("'  '", "too many", "too many"),
        ("'  '", "", "`false` does not hold"),
    ],
)
def test_a_message_that_cannot_be_made_gives_way_to_the_text(
    expression: str, message: str, said: str, tmp_path: Path
) -> None:
    check = {"expression": "false", "messageExpression": expression}
    if message:
        check["message"] = message
    text = policy(matchConditions=[], variables=[], validations=[check])
    assert [each.message for each in found(tmp_path, text)] == [said]


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ("object.spec.trainer.numNodes < 2 || object.spec.suspend", "spec.jobs[0].nodes"),
        ("object.spec.suspend || object.spec.trainer.numNodes < 2", "spec.jobs[0].nodes"),
    ],
)
def test_the_place_is_the_longest_path_that_the_object_has(
    expression: str, place: str, tmp_path: Path
) -> None:
    (fault,) = found(tmp_path, validation(f"has(object.none) || ({expression})"))
    assert str(fault.at) == place


def test_what_holds_is_silent(tmp_path: Path) -> None:
    assert found(tmp_path, POLICY, timeout="20h") == []


def test_the_place_is_the_line_of_the_spec(tmp_path: Path) -> None:
    (fault,) = found(tmp_path, validation("object.spec.trainer.numNodes <= 2"))
    assert str(fault.at) == "spec.jobs[0].nodes"


def test_an_expression_that_fails_is_a_finding_as_it_is_in_a_cluster(tmp_path: Path) -> None:
    (fault,) = found(tmp_path, validation("object.spec.nothing.here == 1"))
    assert "fails on TrainJob/" in fault.message


def test_and_is_none_where_failures_are_ignored(tmp_path: Path) -> None:
    text = policy(
        failurePolicy="Ignore",
        matchConditions=[],
        variables=[],
        validations=[{"expression": "object.spec.nothing == 1"}],
    )
    assert found(tmp_path, text) == []


RULE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployment"]}
EXEC = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/exec"]}
TRAIN_JOBS = policy_body()["spec"]["matchConstraints"]
NESTED = "[1].all(a, [1].all(b, [1].all(c, [1].all(d, d == 1))))"
ROUTE = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("changed", "words", "place"),
    [
        ({"validations": [{"expression": "object.spec."}]}, "it is no CEL", "object.spec."),
        (
            {"validations": [{"expression": "quantity('1Gi') == 1"}]},
            "`quantity` is not known",
            "quantity(",
        ),
        (
            {"validations": [{"expression": "request.userInfo.username == 'a'"}]},
            "the API server alone",
            "request.",
        ),
        (
            {"validations": [{"expression": "oldObject.spec == object.spec"}]},
            "the API server alone",
            "oldObject.",
        ),
        ({"validations": []}, "`validations` are missing", "spec:"),
        ({"validations": [{"message": "no"}]}, "`expression` is missing", "message:"),
        ({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, "`paramKind`", "paramKind:"),
        (
            {"matchConstraints": {"resourceRules": [RULE]}},
            "there are no `deployment`",
            "deployment",
        ),
        ({"matchConstraints": {"resourceRules": [EXEC]}}, "no object", "pods/exec"),
        ({"matchConstraints": {}}, "`matchConstraints.resourceRules` is missing", "spec:"),
        (
            {"matchConstraints": {**TRAIN_JOBS, "namespaceSelector": ROUTE}},
            "`namespaceSelector` is not judged",
            "namespaceSelector:",
        ),
        (
            {"matchConstraints": {**TRAIN_JOBS, "excludeResourceRules": [EXEC]}},
            "`excludeResourceRules` is not judged",
            "excludeResourceRules:",
        ),
        (
            {"matchConstraints": {**TRAIN_JOBS, "objectSelector": ROUTE}},
            "`matchExpressions` of a selector",
            "matchExpressions:",
        ),
        (
            {"validations": [{"expression": "1 == 1"}] * 65},
            "67 expressions, and 64 are the most",
            "spec:",
        ),
        ({"validations": [{"expression": NESTED}]}, "nested more than 3 deep", "'[1].all("),
        ({"validations": [{"expression": "1 == 1 || " * 600 + "true"}]}, "characters", "expr"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_place(
    changed: dict[str, Any], words: str, place: str, tmp_path: Path
) -> None:
    found_faults = found(tmp_path, policy(**changed))
    faults = [each for each in found_faults if each.code == "POL013"]
    assert any(words in each.message for each in faults)
    for each in faults:
        assert each.help
        assert each.span is not None
        line = each.span.file.text.split("\n")[each.span.line - 1]
        assert line[each.span.column - 1 :].startswith(place)


@pytest.mark.parametrize(
    "constraint", [{"namespaceSelector": ROUTE}, {"excludeResourceRules": [EXEC]}], ids=list
)
def test_the_key_is_marked_where_its_value_stands_beside_it(
    constraint: dict[str, Any], tmp_path: Path
) -> None:
    data = policy_body()
    data["spec"]["matchConstraints"] |= constraint
    text = json.dumps(data)
    [fault] = [each for each in found(tmp_path, text) if each.code == "POL013"]
    [key] = constraint
    assert text[fault.span.column - 1 :].startswith(f'"{key}"')


def test_a_policy_without_a_code_says_where_one_is_written(tmp_path: Path) -> None:
    data = policy_body()
    del data["metadata"]["annotations"]
    (fault,) = found(tmp_path, dumped(data))
    assert fault.code == "POL013"
    assert "trainyard.dev/code" in fault.help


@pytest.mark.parametrize(
    "changed",
    [
        {"variables": [{"expression": "1 == 1"}]},
        {"variables": [{"name": ["a"], "expression": "1 == 1"}]},
        {"matchConditions": 1},
        {"matchConstraints": []},
        {"validations": [1]},
    ],
)
def test_what_the_api_server_refuses_is_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    faults = found(tmp_path, policy(**changed))
    assert {each.code for each in faults} == {"POL013"}
    assert all(each.help and each.span for each in faults)


@pytest.mark.parametrize("name", ["jobs.end", "jobs-end.example.com", "4-nodes"])
def test_a_name_is_a_slug(name: str, tmp_path: Path) -> None:
    """The API server takes names of domains, too."""
    data = policy_body()
    data["metadata"]["name"] = name
    (fault,) = found(tmp_path, dumped(data))
    assert (fault.code, fault.message) == ("POL013", f"`{name}` is no slug")
    assert fault.span.line == dumped(data).split(f"name: {name}")[0].count("\n") + 1


@pytest.mark.parametrize("key", ["apiGroups", "apiVersions", "resources"])
@pytest.mark.parametrize("value", [[], None])
def test_a_rule_about_resources_names_them(
    key: str, value: list[str] | None, tmp_path: Path
) -> None:
    data = policy_body()
    data["spec"]["matchConstraints"]["resourceRules"][0][key] = value
    (fault,) = found(tmp_path, dumped(data))
    assert (fault.code, fault.message) == ("POL013", f"`{key}` is not a list of names")


def test_annotations_that_are_none_are_refused(tmp_path: Path) -> None:
    data = policy_body()
    for written in ([], "x", {"trainyard.dev/severity": ["error"]}):
        data["metadata"]["annotations"] = written
        (tmp_path / "rule.yaml").write_text(dumped(data))
        _, faults = load_rules(tmp_path)
        assert {each.code for each in faults} == {"POL013"}


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("code", "org1", "org1"),
        ("severity", "fatal", "fatal"),
        ("reason", "none", "trainyard.dev/reason"),
    ],
)
def test_the_annotation_that_is_wrong_is_shown(
    name: str, value: str, shown: str, tmp_path: Path
) -> None:
    """Its value, and the name of one that there is not."""
    data = policy_body()
    data["metadata"]["annotations"][f"trainyard.dev/{name}"] = value
    (fault,) = found(tmp_path, dumped(data))
    assert fault.code == "POL013"
    line = (tmp_path / "policies" / "rule.yaml").read_text().splitlines()[fault.span.line - 1]
    assert line[fault.span.column - 1 :].startswith(shown)


def test_sections_that_are_null_are_empty(tmp_path: Path) -> None:
    text = policy(
        matchConditions=None,
        variables=None,
        validations=[{"expression": "object.spec.trainer.numNodes > 1"}],
    )
    assert found(tmp_path, text) == []


HOSTILE = [
    "object.metadata.name.matches('^(a+)+$')",
    "'" + "a" * 3000 + "'.matches('(a|a)*b')",
    "['" + "','".join("a" * 900) + "'].all(x, ['" + "','".join("b" * 900) + "'].all(y, x != y))",
    "'" + "a" * 900 + "'.replace('a', '" + "b" * 900 + "').replace('b', '" + "c" * 900 + "') != ''",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_a_hostile_rule_ends(expression: str, tmp_path: Path) -> None:
    """It is judged, or said to be too costly: a bound on steps, which no clock decides."""
    faults = found(tmp_path, validation(expression))
    assert {each.code for each in faults} <= {"ORG001", "POL013", "POL015"}


def test_variables_that_double_themselves_end(tmp_path: Path) -> None:
    variables = [{"name": "v0", "expression": "'" + "a" * 100 + "'"}]
    variables += [
        {"name": f"v{index}", "expression": f"variables.v{index - 1} + variables.v{index - 1}"}
        for index in range(1, 40)
    ]
    text = policy(
        matchConditions=[],
        variables=variables,
        validations=[{"expression": "size(variables.v39) < 10"}],
    )
    assert {each.code for each in found(tmp_path, text)} == {"POL015"}


def test_a_variable_of_itself_ends(tmp_path: Path) -> None:
    text = policy(
        matchConditions=[],
        variables=[{"name": "v", "expression": "variables.v + 1"}],
        validations=[{"expression": "variables.v > 1"}],
    )
    assert {each.code for each in found(tmp_path, text)} <= {"ORG001", "POL015"}


def test_examples_stand_in_annotations(tmp_path: Path) -> None:
    data = policy_body()
    data["metadata"]["annotations"] |= {
        "trainyard.dev/fails": "jobs: [{name: llama, timeout: 48h}]",
        "trainyard.dev/passes": "jobs: [{name: llama, timeout: 2h}]",
    }
    (tmp_path / "rule.yaml").write_text(dumped(data))
    rules, faults = load_rules(tmp_path)
    assert faults == []
    (rule,) = [each for each in rules if each.code == "ORG001"]
    assert rule.fails == ("jobs: [{name: llama, timeout: 48h}]\n",)
    assert rule.passes == ("jobs: [{name: llama, timeout: 2h}]\n",)
    assert "variables.hours <= 24" in rule.doc


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("TrainJob", "trainjobs"),
        ("NetworkPolicy", "networkpolicies"),
        ("EC2NodeClass", "ec2nodeclasses"),
        ("Topology", "topologies"),
        ("ClusterQueue", "clusterqueues"),
        ("Gateway", "gateways"),
    ],
)
def test_the_names_of_resources(kind: str, resource: str) -> None:
    assert plural(kind) == resource
