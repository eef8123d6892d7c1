"""Terraform in place of CloudFormation: the same resources as modules, verified, judged alike, and run by scripts."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import plan_of, spec
from running import Command, stand_ins
from trainyard.core.cloud.plan import (
    RESOURCES,
    AccessPolicy,
    Bucket,
    CloudResource,
    FileSystemStack,
    IamRole,
    SecurityGroupStack,
)
from trainyard.extensions.facts.derive_stacks import TYPES as STACKED
from trainyard.extensions.terraform.formats.terraform.structure import structure, types
from trainyard.extensions.terraform.lowering.types import TYPES
from trainyard.output import Artifact
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import Setting, lifted, verified, written

KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
STORAGE: list[dict[str, Any]] = [
    {
        "name": "raw",
        "s3": {
            "create": {
                "kmsKey": KEY,
                "lifecycle": {"transitions": [{"days": 30, "to": "STANDARD_IA"}]},
            }
        },
    },
    {
        "name": "fast",
        "fsxLustre": {
            "create": {
                "size": "38400Gi",
                "throughputPerTiB": 125,
                "efa": True,
                "dataRepositories": [{"path": "/raw", "storage": "raw"}],
            }
        },
    },
    {"name": "notes", "ebs": {"create": {"each": "namespace", "size": "100Gi", "snapshots": {}}}},
]
SECRET = {
    "name": "token",
    "namespaces": ["training"],
    "secretsManager": {"existing": {"name": "token", "kmsKey": KEY}},
}
NETWORK = {
    "create": {
        "cidr": "10.0.0.0/16",
        "zones": ["us-west-2a", "us-west-2b"],
        "nat": "single",
        "endpoints": ["ecr.api"],
    }
}
ISOLATED = {"create": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"], "nat": "none"}}
STATE = {"tool": "terraform", "state": {"bucket": "state-111122223333"}}
ADMIN = {"eks": {"admins": ["arn:aws:iam::111122223333:role/platform"]}}


def clusters(**parts: Any) -> dict[str, Any]:
    given = {"storage": STORAGE, "secrets": [SECRET], "platform": ADMIN, **parts}
    given = {"pool": {"instanceTypes": ["p5.48xlarge"]}, **given}  # a client of Lustre over EFA
    mounts = [{"storage": "fast", "path": "/data"}]
    return spec(job={"mounts": mounts}, **given)


def by_terraform(data: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    changed["spec"]["bootstrap"] = STATE
    return changed


def nested(node: Any, key: str) -> Iterator[Any]:
    """Every value below a node that stands under a key."""
    if isinstance(node, list):
        for item in node:
            yield from nested(item, key)
    if isinstance(node, dict):
        if key in node:
            yield node[key]
        for item in node.values():
            yield from nested(item, key)


def of_format(plan: Plan, name: str) -> list[Artifact]:
    return [artifact for artifact in lower(plan) if artifact.format == name]


SETS = {
    "eksctl": clusters(),
    "own": clusters(network=NETWORK),
    "isolated": clusters(network=ISOLATED),
}


@pytest.fixture(scope="module", params=SETS)
def pair(request: pytest.FixtureRequest) -> tuple[list[Artifact], list[Artifact]]:
    """The stacks of a spec, and its modules."""
    data = SETS[request.param]
    stacks = of_format(plan_of(data), "cloudformation")
    return stacks, of_format(plan_of(by_terraform(data)), "terraform")


@pytest.mark.slow
def test_the_whole_of_it_is_clean(tmp_path: Path, trainyard: Command) -> None:
    data = by_terraform(clusters(network=NETWORK))
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    folder = tmp_path / "generated/lab/bootstrap"
    assert not list(folder.rglob("stack*.yaml"))
    assert trainyard("compile", "--check", "spec.yaml", cwd=tmp_path).code == 0
    for file in folder.rglob("main.tf.json"):
        assert next(iter(json.loads(file.read_text()))) == "//"
    linted = trainyard("lint", str(folder / "terraform"), cwd=tmp_path)
    assert linted.code == 0, linted.out


def test_each_stack_is_a_module_without_faults(pair: tuple[list[Artifact], list[Artifact]]) -> None:
    stacks, modules = pair
    assert len(stacks) == len(modules) > 0
    assert verified(modules, Setting()) == []


def test_every_type_that_is_made_has_a_row_and_a_structure() -> None:
    read_alone = {
        *("AWS::EC2::LaunchTemplate", "AWS::EC2::PlacementGroup"),
        *("AWS::EKS::Cluster", "AWS::EKS::Nodegroup", "AWS::IAM::Policy"),
    }
    without_terraform = {
        "AWS::Budgets::Budget",
        "AWS::CloudWatch::Alarm",
    }  # ParallelCluster refuses `bootstrap`
    assert set(TYPES) == set(STACKED) - read_alone - without_terraform
    assert {name for name, _ in TYPES.values()} <= types()


def known(node: CloudResource) -> dict[str, Any]:
    """What is judged of a resource, without the names that each tool has of its own."""
    values = {
        field.name: getattr(node, field.name)
        for field in fields(node)
        if field.name not in ("at", "origins", "logical", "unread", "characters")
    }
    return {"kind": type(node).__name__, **values}


def names_of(nodes: list[CloudResource]) -> Counter[str]:
    return Counter(type(node).__name__ for node in nodes)


def test_both_are_read_into_the_same_resources(pair: tuple[list[Artifact], list[Artifact]]) -> None:
    """By two readers that share nothing of what made them."""
    for stack, module in zip(*pair, strict=True):
        ours = [node for kind in RESOURCES for node in lifted([stack], closed=True).of(kind)]
        theirs = [node for kind in RESOURCES for node in lifted([module], closed=True).of(kind)]
        assert names_of(ours) == names_of(theirs), stack.path
        for kind in (Bucket, FileSystemStack):
            one = [known(node) for node in ours if isinstance(node, kind)]
            other = [known(node) for node in theirs if isinstance(node, kind)]
            assert one == other, stack.path


def _tagged(bodies: Iterable[dict[str, Any]], path: str) -> Counter[tuple[tuple[str, Any], ...]]:
    """How often each set of tags is given, as far as they are texts."""
    found: Counter[tuple[tuple[str, Any], ...]] = Counter()
    for body in bodies:
        for tags in nested(body, path):
            pairs = tags if isinstance(tags, dict) else {tag["Key"]: tag["Value"] for tag in tags}
            literal = [(key, value) for key, value in pairs.items() if "{" not in str(value)]
            found[tuple(sorted(literal))] += 1
    return found


def test_tags_are_the_same(pair: tuple[list[Artifact], list[Artifact]]) -> None:
    stacks, modules = pair
    of_stacks = _tagged((stack.body["Resources"] for stack in stacks), "Tags")
    assert of_stacks.total() > 4
    assert _tagged((module.body["resource"] for module in modules), "tags") == of_stacks


def test_policies_have_the_same_statements_and_roles_the_same_policies(
    pair: tuple[list[Artifact], list[Artifact]],
) -> None:
    for stack, module in zip(*pair, strict=True):
        ours, theirs = lifted([stack], closed=True), lifted([module], closed=True)
        said = [statements(ours), statements(theirs)]
        assert said[0] == said[1], stack.path
        attached = [
            sorted((len(role.managed), len(role.inline)) for role in plan.of(IamRole))
            for plan in (ours, theirs)
        ]
        assert attached[0] == attached[1], stack.path


def statements(plan: Plan) -> list[str]:
    """Every statement, without its place and what only AWS knows."""
    texts = []
    for policy in plan.of(AccessPolicy):
        for statement in policy.statements:
            bare = replace(statement, unread=frozenset(), origins={})
            texts.append(f"{policy.what} {bare!r}")
    return sorted(re.sub(r"at=[^)]*\)(, )?|\$\{[^}]*\}", "", text) for text in texts)


def test_security_groups_let_the_same_through(pair: tuple[list[Artifact], list[Artifact]]) -> None:
    for stack, module in zip(*pair, strict=True):
        ours, theirs = lifted([stack], closed=True), lifted([module], closed=True)
        rules = [
            sorted(
                (rule.outgoing, str(rule.protocol), rule.first or 0, rule.last or 0)
                for group in plan.of(SecurityGroupStack)
                for rule in group.rules
            )
            for plan in (ours, theirs)
        ]
        assert rules[0] == rules[1], stack.path


def body_of(modules: list[Artifact], name: str) -> dict[str, Any]:
    (body,) = (each.body for each in modules if f"/{name}/" in each.path)
    return body


def test_what_holds_data_is_never_destroyed() -> None:
    modules = of_format(plan_of(by_terraform(clusters(network=NETWORK))), "terraform")
    for name, kind in (
        ("storage-raw", "aws_s3_bucket"),
        ("storage-fast", "aws_fsx_lustre_file_system"),
        ("network", "aws_vpc"),
        ("network", "aws_subnet"),
    ):
        body = body_of(modules, name)
        for label, resource in body["resource"][kind].items():
            assert resource["lifecycle"]["prevent_destroy"] is True
            assert f"{kind}.{label}" in body["output"]["kept"]["value"].split()
    roles = body_of(modules, "cluster")["resource"]["aws_iam_role"].values()
    assert all("lifecycle" not in role for role in roles)


def test_each_module_has_a_state_of_its_own_and_no_secret() -> None:
    modules = of_format(plan_of(by_terraform(clusters())), "terraform")
    keys = [each.body["terraform"]["backend"]["s3"]["key"] for each in modules]
    assert len(set(keys)) == len(keys)
    assert all(key.startswith("trainyard/lab/") for key in keys)
    for module in modules:
        text = written(module).decode()
        assert "aws_secretsmanager_secret_version" not in text
        backend = module.body["terraform"]["backend"]["s3"]
        assert (backend["use_lockfile"], backend["encrypt"]) == (True, True)


def test_what_means_itself_is_no_expression() -> None:
    from trainyard.extensions.terraform.lowering.expressions import Names, literal

    assert literal("${aws:username} and %{x}") == "$${aws:username} and %%{x}"
    names = Names({}, {})
    assert json.loads(names.text({"a": "${b}"})) == {"a": "$${b}"}


def test_what_has_no_words_in_terraform_is_our_own_fault() -> None:
    """A stack of ours says no more than can be written as a module."""
    from trainyard.extensions.terraform.lowering.expressions import Names
    from trainyard.extensions.terraform.lowering.types import TYPES

    names = Names({}, {})
    with pytest.raises(ValueError, match="no expression of Terraform for `Fn::Join`"):
        names.value({"Fn::Join": ["", ["a"]]})
    _, address = TYPES["AWS::EC2::EIP"]
    with pytest.raises(ValueError, match=r"no argument of aws_eip for \['InstanceId'\]"):
        list(address({"Domain": "vpc", "InstanceId": "i-1"}, names, "aws_eip.a"))


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (("resource", "aws_s3_bucket", "bucket", "buckett"), "x", "SCH001"),
        (("resource", "aws_s3_bucket", "bucket", "tags"), "x", "SCH002"),
        (("resource", "aws_s3_bucket", "bucket", "force_destroy"), "maybe", "SCH002"),
        (("resource", "aws_s3_bucket_policy", "tls_only", "policy"), None, "SCH003"),
        (("resource", "aws_s3_bucket_policy", "tls_only", "bucket"), "${aws_s3_bucket.other.id}", "REF001"),
        (("resource", "aws_s3_bucket_policy", "tls_only", "bucket"), "${aws_s3_bucket.bucket.name}", "REF001"),
        (("resource", "aws_no_such_type"), {"x": {}}, "SCH005"),
        (("resources",), {}, "SCH001"),
        (("resource", "aws_s3_bucket", "bucket", "lifecycle"), {"prevent_destroys": True}, "SCH001"),
    ],
)  # fmt: skip
def test_what_the_provider_would_refuse(path: tuple[str, ...], value: Any, code: str) -> None:
    modules = of_format(plan_of(by_terraform(clusters())), "terraform")
    (module,) = (each for each in modules if "/storage-raw/" in each.path)
    body = copy.deepcopy(module.body)
    inner = body
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    broken = replace(module, body=body)
    assert [fault.code for fault in verified([broken], Setting())] == [code]


def test_structures_have_no_prose_and_say_their_source() -> None:
    for name in types():
        known_type = structure(name)
        assert known_type is not None
        assert "id" in known_type.attributes


def test_a_fault_is_reported_at_the_line_of_the_spec(tmp_path: Path, trainyard: Command) -> None:
    data = by_terraform(clusters())
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    rule = tmp_path / "policies" / "org"
    rule.mkdir(parents=True)
    (rule / "no_lustre.py").write_text(
        "from collections.abc import Iterator\n"
        "from trainyard.judge.policy.rule import Finding, rule\n"
        "from trainyard.core.cloud.plan import FileSystemStack\n\n\n"
        '@rule("ORG001")\n'
        "def no_lustre(system: FileSystemStack) -> Iterator[Finding]:\n"
        '    """A file system is made.\n\n'
        "    ## Fails\n\n"
        "        resource: {aws_fsx_lustre_file_system: {a: {subnet_ids: [subnet-1], deployment_type: SCRATCH_2}}}\n\n"
        "    ## Passes\n\n"
        "        resource: {aws_vpc: {a: {cidr_block: 10.0.0.0/16}}}\n"
        '    """\n'
        '    yield Finding("a file system", system.where("size"))\n'
    )
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.code == 1
    line = next(
        number
        for number, text in enumerate((tmp_path / "spec.yaml").read_text().splitlines(), 1)
        if "38400Gi" in text
    )
    assert f"spec.yaml:{line}:" in done.out


@pytest.mark.slow
def test_another_tool_for_a_committed_cluster_is_refused(
    tmp_path: Path, trainyard: Command
) -> None:
    data = clusters()
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    changed = by_terraform(data)
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(changed, sort_keys=False))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "CHG028" in done.out
    (tmp_path / "generated" / data["metadata"]["name"] / "bootstrap" / "stack.yaml").unlink()
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0


def test_the_block_of_a_committed_network_cannot_change(tmp_path: Path, trainyard: Command) -> None:
    data = by_terraform(clusters(network=NETWORK))
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    data["spec"]["network"]["create"]["subnets"] = {"us-west-2a": "10.0.128.0/19"}
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "CHG025" in done.out


THIRD_PARTY = (Path(__file__).parent / "modules" / "main.tf.json").read_text()


@pytest.mark.needs("lint")
def test_modules_of_third_parties_are_judged(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "main.tf.json").write_text(THIRD_PARTY)
    done = trainyard("lint", "--format=json", "main.tf.json", cwd=tmp_path)
    found = {each["code"]: each["place"]["line"] for each in json.loads(done.out)["diagnostics"]}
    lines = THIRD_PARTY.splitlines()
    where = {code: lines[line - 1] for code, line in found.items()}
    assert "sts:AssumeRole" in where["ACC008"]
    assert "s3:*" in where["ACC006"]
    assert "block_public_acls" in where["ACC010"]
    assert "aws_security_group.efa" in where["EFA031"]
    assert "import_path" in where["RUN081"]
    assert "storge_type" in where["SCH001"]
    assert "desired_size" in where["SCH002"]


@pytest.mark.needs("lint")
def test_groups_and_registries_are_read_in_each_form_and_helps_are_in_words_of_terraform(
    trainyard: Command,
) -> None:
    """Rules within a group and beside it, blocks as lists and alone, the group itself by `self` and by name."""
    modules = Path(__file__).parent / "modules"
    done = trainyard("lint", "--format=json", "groups.tf.json", cwd=modules)
    lines = (modules / "groups.tf.json").read_text().splitlines()
    found = {
        each["code"]: (lines[each["place"]["line"] - 1].strip().split(":")[0], each["help"])
        for each in json.loads(done.out)["diagnostics"]
    }
    assert found == {
        "PLC048": ('"ingress"', "add a rule like it with `from_port = 1018` and `to_port = 1023`"),
        "EFA031": (
            '"in"',
            'add an `aws_vpc_security_group_egress_rule` with `ip_protocol = "-1"` and the group itself',
        ),
        "ACC015": ('"moved"', 'write `image_tag_mutability = "IMMUTABLE"`'),
        "HLT040": ('"gpu"', 'write `ami_type = "AL2023_x86_64_NVIDIA"`'),
    }


@pytest.mark.needs("lint")
def test_a_module_with_expressions_is_left_alone(tmp_path: Path, trainyard: Command) -> None:
    text = """{"resource": {
      "aws_s3_bucket_policy": {"a": {"bucket": "${var.bucket}", "policy": "${jsonencode(local.policy)}"}},
      "aws_security_group": {"a": {"vpc_id": "${var.vpc}", "dynamic": {"ingress": {"for_each": "${var.ports}"}}}},
      "aws_fsx_lustre_file_system": {"a": {"count": 2, "subnet_ids": "${var.subnets}", "storage_type": "${var.x}"}}
    }}"""
    (tmp_path / "main.tf.json").write_text(text)
    done = trainyard("lint", "main.tf.json", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")


TERRAFORM = """\
#!/bin/bash
echo "terraform $*" >>"$LOG"
[ -z "${LOCKED:-}" ] || [ "$2" != apply ] || { echo "Error acquiring the state lock" >&2; exit 1; }
folder=${1#-chdir=} command=$2
case $command in
  init) [ -e "$folder/main.tf.json" ] || exit 1 ;;
  state) [ "$3" != list ] || echo aws_s3_bucket.bucket ;;
  output)
    [ "$3" != -json ] || { cat "$folder/main.tf.json"; exit 0; }
    [ "$4" = kept ] && printf 'aws_s3_bucket.bucket' || printf '%s-of-%s' "$4" "$(basename "$folder")"
    ;;
  destroy) ls "$folder" >>"$LOG"; grep -h prevent_destroy "$folder"/*_override.tf.json >>"$LOG" 2>/dev/null ;;
esac
exit 0
"""
KUBECTL = """\
#!/bin/bash
echo "kubectl $*" >>"$LOG"
cat >/dev/null </dev/null
"""


def run(folder: Path, script: str, *arguments: str) -> list[str]:
    """What a script of the bootstrap calls."""
    done, calls = tried(folder, script, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return calls


def tried(
    folder: Path, script: str, *arguments: str, **variables: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """How a script of the bootstrap ends, and what it calls."""
    plan = plan_of(by_terraform(clusters(network=NETWORK)))
    for artifact in lower(plan):
        if artifact.path.startswith("bootstrap/") and not artifact.path.endswith(".md"):
            target = folder / "lab" / artifact.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(written(artifact))
    commands = {"terraform": TERRAFORM, "kubectl": KUBECTL}
    log = folder / "log"
    log.write_text("")
    done = subprocess.run(
        ["bash", str(folder / "lab/bootstrap" / script), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={
            "PATH": stand_ins(folder / "bin", commands),
            "HOME": str(folder / "home"),
            "LOG": str(log),
            **variables,
        },
    )
    return done, log.read_text().splitlines()


def applied(calls: list[str]) -> list[str]:
    return [
        call.split()[1].rpartition("/")[2]
        for call in calls
        if call.startswith("terraform") and " apply " in call
    ]


def test_the_script_makes_buckets_before_file_systems_and_keeps_ids(tmp_path: Path) -> None:
    calls = run(tmp_path, "storage.sh")
    assert applied(calls) == ["storage-raw", "storage-fast"]
    (kept,) = (call for call in calls if "create configmap" in call)
    for literal in ("fsx_id=id", "fsx_dns=dns_name", "fsx_mount=mount_name"):
        assert f"--from-literal={literal}-of-storage-fast" in kept


def test_the_script_leaves_the_compilers_folder_alone(tmp_path: Path) -> None:
    calls = run(tmp_path, "terraform.sh", "apply", "cluster")
    assert applied(calls) == ["cluster"]
    used = {call.split()[1].removeprefix("-chdir=") for call in calls}
    assert used == {str(tmp_path / "home/.cache/trainyard/lab/cluster")}


def test_the_parts_are_all_but_what_has_its_own_way(tmp_path: Path) -> None:
    parts = applied(run(tmp_path, "terraform.sh", "parts"))
    assert "bucket-raw" in parts
    assert not {"cluster", "network", "storage-raw"} & set(parts)


def test_to_delete_a_module_forgets_what_holds_data(tmp_path: Path) -> None:
    calls = run(tmp_path, "terraform.sh", "delete", "storage-raw")
    steps = [call.split()[2] for call in calls if call.startswith("terraform")]
    assert steps == ["init", "output", "output", "state", "state", "destroy"]
    assert not any("override" in call for call in calls)


def test_a_state_that_is_locked_is_waited_for_and_then_explained(tmp_path: Path) -> None:
    done, calls = tried(tmp_path, "terraform.sh", "apply", "cluster", LOCKED="1")
    assert done.returncode == 1
    assert "force-unlock ID" in done.stderr
    (call,) = [call for call in calls if " apply " in call]
    assert "-lock-timeout=2m" in call


def test_to_destroy_a_module_is_said_on_purpose(tmp_path: Path) -> None:
    calls = run(tmp_path, "terraform.sh", "destroy", "network")
    assert "main_override.tf.json" in calls
    assert not any('"prevent_destroy": true' in call for call in calls)
