"""`lint` and templates of CloudFormation: YAML with short forms and JSON, alone and among objects."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from running import Command

pytestmark = pytest.mark.needs("lint")

QUEUE = """apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: research, namespace: team-a}
spec: {clusterQueue: research}
"""
TEMPLATE = """AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Cluster: {Type: String}
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      RoleName: !Sub "Karpenter-${Cluster}"
      AssumeRolePolicyDocument:
        Version: "2012-10-17"
        Statement:
          - {Effect: Allow, Principal: {Service: pods.eks.amazonaws.com}, Action: sts:AssumeRole}
      Policies:
        - PolicyName: nodes
          PolicyDocument:
            Version: "2012-10-17"
            Statement:
              - Effect: Allow
                Action: ["ec2:*"]
                Resource: "*"
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      SqsManagedSseEnabled: false
      QueueNam: !Ref Clustr
"""


def reported(trainyard: Command, folder: Path, *paths: str) -> list[tuple[str, str, int]]:
    """Code, file and line of each finding."""
    done = trainyard("lint", *(paths or ["."]), "--format", "json", cwd=folder)
    assert "Traceback" not in done.err
    assert done.code in (0, 1), done.err
    found = []
    for each in json.loads(done.out)["diagnostics"]:
        place = each["place"]
        found.append((each["code"], Path(place["file"]).name, place["line"]))
    return sorted(found, key=lambda one: (one[1], one[2], one[0]))


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


FOUND = [
    ("ACC006", 'Action: ["ec2:*"]'),
    ("ACC009", "SqsManagedSseEnabled"),
    ("REF001", "!Ref Clustr"),
    ("SCH001", "QueueNam:"),
]


def test_a_template_is_judged_at_the_lines_of_its_file(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_text(TEMPLATE)
    assert reported(trainyard, tmp_path) == [
        (code, "stack.yaml", line_of(TEMPLATE, part)) for code, part in FOUND
    ]


def test_the_same_template_in_json(trainyard: Command, tmp_path: Path) -> None:
    long = (
        TEMPLATE.replace("!Sub ", "{Fn::Sub: ")
        .replace('${Cluster}"', '${Cluster}"}')
        .replace("!Ref Clustr", "{Ref: Clustr}")
    )
    import yaml

    text = json.dumps(yaml.safe_load(long), indent=1)
    (tmp_path / "stack.json").write_text(text)
    parts = ('"Action": [\n', '"SqsManagedSseEnabled"', '"Ref": "Clustr"', '"QueueNam"')
    lines = [line_of(text, part) for part in parts]
    wanted = {(code, line) for (code, _), line in zip(FOUND, lines, strict=True)}
    found = reported(trainyard, tmp_path)
    assert {(code, line) for code, _, line in found} == wanted


def test_templates_among_objects(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / "bootstrap").mkdir()
    (tmp_path / "bootstrap" / "stack.yaml").write_text(TEMPLATE)
    alone = reported(trainyard, tmp_path, "bootstrap")
    assert reported(trainyard, tmp_path) == alone
    assert reported(trainyard, tmp_path, "queue.yaml") == []


def test_a_template_and_an_object_in_one_file(trainyard: Command, tmp_path: Path) -> None:
    wrong = QUEUE.replace("clusterQueue", "clusterQueu")
    (tmp_path / "both.yaml").write_text(f"{TEMPLATE}---\n{wrong}")
    found = reported(trainyard, tmp_path)
    assert {(code, line) for code, _, line in found} == {
        *((code, line_of(TEMPLATE, part)) for code, part in FOUND),
        ("SCH001", TEMPLATE.count("\n") + 1 + line_of(wrong, "clusterQueu")),
    }


def test_what_was_judged_is_counted(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / "stack.yaml").write_text(
        "Resources:\n  Queue: {Type: AWS::SQS::Queue}\n  F: {Type: AWS::Lambda::Function}\n"
    )
    done = trainyard("lint", ".", cwd=tmp_path)
    assert "nothing found in what was judged: 1 object and 1 template in 2 files" in (done.err)
    assert re.search(r"1 resource by structure and [1-9][0-9]* rules", done.err)
    assert "not judged: 1 AWS::Lambda::Function (no structure, no rule)" in done.err


def test_a_template_alone_is_enough(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_text("Resources: {Q: {Type: AWS::SQS::Queue}}\n")
    done = trainyard("lint", "stack.yaml", cwd=tmp_path)
    assert done.code == 0
    assert "clean: 1 template in 1 file: 1 resource by structure" in done.err


@pytest.mark.parametrize(
    ("text", "code", "help"),
    [
        ("!Subb a", "YML014", "did you mean `!Sub`?"),
        ("!Foo a", "YML014", "remove the tag"),
        ("!!python/object:os.system a", "YML014", "remove the tag"),
    ],
)
def test_an_unknown_tag_is_reported_at_its_line(
    text: str, code: str, help: str, trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "stack.yaml").write_text(
        f"Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      QueueName: {text}\n"
    )
    assert reported(trainyard, tmp_path) == [(code, "stack.yaml", 5)]
    assert help in trainyard("lint", ".", cwd=tmp_path).out


@pytest.mark.parametrize(
    "text",
    [
        "Resources: [a, b]\n",
        "Resources: {limits: {cpu: 4}}\n",
        "Resources: !limits {cpu: 4}\n",
        'Resources: "{{ .Values.resources }}"\n',
        "Resources:\n  - Type: AWS::SQS::Queue\n",
        '{"Resources": {"a": 1}}\n',
        "AWSTemplateFormatVersion\n",
    ],
)
def test_what_is_no_template_stays_not_read(text: str, trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / "other.yaml").write_text(text)
    assert reported(trainyard, tmp_path) == []
    done = trainyard("lint", ".", cwd=tmp_path)
    assert "not read: 1 file of YAML or JSON" in done.err


@pytest.mark.parametrize(
    "text",
    [
        "AWSTemplateFormatVersion: 2010-09-09\nResources: {A: {Type: [}\n",
        "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  A: {Type: AWS::SQS::Queue}\n B: 1\n",
        "AWSTemplateFormatVersion: 2010-09-09\nResources: {A: &a {B: *a}}\n",
        "AWSTemplateFormatVersion: 2010-09-09\n? [a]\n: b\nResources: !If\n",
        "AWSTemplateFormatVersion: 2010-09-09\nResources: " + "[" * 100 + "\n",
        "AWSTemplateFormatVersion: 2010-09-09\nResources: " + "!Sub [" * 100 + "\n",
        "AWSTemplateFormatVersion: 2010-09-09\nResources: [" + "!Sub [" * 100 + "\n",
    ],
)
def test_a_broken_template_gives_findings_and_no_traceback(
    text: str, trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "stack.yaml").write_text(text)
    done = trainyard("lint", "stack.yaml", cwd=tmp_path)
    assert done.code in (1, 2)
    assert "Traceback" not in done.err + done.out
    assert "INT000" not in done.out + done.err
    assert "error[" in done.out


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("stack.yaml", TEMPLATE + "  Other: {Type: [\n", ("YML002", 26)),
        # a line too far to the left, and one after a tab
        ("stack.yaml", TEMPLATE.replace("    Type: AWS::SQS", "   Type: AWS::SQS"), ("YML002", 23)),
        ("stack.yaml", TEMPLATE.replace("    Type: AWS::SQS", "\tType: AWS::SQS"), ("YML003", 22)),
        ("cluster.yaml", "HeadNode: {Image: a\nScheduling:\n  Scheduler: slurm\n", ("YML002", 2)),
        ("main.tf.json", '{"resource": {"aws_sqs_queue": {"a": {}}\n', ("YML002", 1)),
        ("stack.yaml", f"{{% if gpu %}}\n{TEMPLATE}{{% endif %}}\n", ("LNT002", 1)),
    ],
)
def test_what_is_no_yaml_is_reported_beside_what_is_right(
    name: str, text: str, place: tuple[str, int], trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / name).write_text(text)
    assert reported(trainyard, tmp_path) == [(place[0], name, place[1])]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        # Numbers are keys of mappings by account.
        ("Mappings: {A: {123456789012: {a: b}}}\n", []),
        ("---\na: [\n", [("YML002", "stack.yaml", 4)]),
    ],
)
def test_a_template_is_judged_whatever_stands_after_it(
    more: str, found: list[tuple[str, str, int]], trainyard: Command, tmp_path: Path
) -> None:
    text = "Resources:\n  Q: {Type: AWS::SQS::Queue}\n"
    (tmp_path / "stack.yaml").write_text(text + more)
    assert reported(trainyard, tmp_path) == found
    done = trainyard("lint", ".", cwd=tmp_path)
    assert "1 template in 1 file: 1 resource" in done.err
    assert ("what is no YAML in ./stack.yaml" in done.err) == bool(found)


def test_a_template_of_a_template_is_named_once(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_text(
        "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Q: {Type: AWS::SQS::Queue}\n"
        "  M:\n    Type: !Rain::Module vpc.yml\n"
    )
    done = trainyard("lint", ".", cwd=tmp_path)
    assert "warning[LNT002]" in done.out
    assert "rain pkg" in done.out
    assert "YML014" not in done.out


def test_an_exception_holds_for_a_template(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_text(
        "Resources:\n  Q: {Type: AWS::SQS::Queue, Properties: {SqsManagedSseEnabled: false}}\n"
    )
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "exceptions.yaml").write_text(
        "- {code: ACC009, object: Template/stack.yaml, reason: no message is secret, until: 2099-01-01}\n"
    )
    done = trainyard("lint", "stack.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("1 exception\nclean: 1 template")
