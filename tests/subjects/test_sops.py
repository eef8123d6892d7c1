"""Secrets that are encrypted in git: who decrypts them, and what is not encrypted as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import files, objects_of, plan_of, spec
from running import Command
from trainyard.eks.flux.plan import Stage
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import Setting, format_of, lifted, verified

from subjects.test_include import done_of, outcome

KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
OTHER = KEY.replace("0a1b", "ffff")
ALIAS = "arn:aws:kms:us-west-2:111122223333:alias/trainyard-lab-sops"
CIPHER = "ENC[AES256_GCM,data:p673w==,iv:YY=,aad:UQ=,tag:A=,type:str]"
EXISTING: dict[str, Any] = {"existing": {"kmsKey": KEY}}
CREATE: dict[str, Any] = {"create": {}}


def secret(arn: str = KEY, **values: str) -> str:
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token", "namespace": "training"},
        "stringData": {"token": CIPHER, **values},
        "sops": {
            "kms": [{"arn": arn, "enc": "AQICAHh", "aws_profile": ""}],
            "mac": CIPHER,
            "encrypted_regex": "^(data|stringData)$",
            "version": "3.11.0",
        },
    }
    return yaml.safe_dump(body, sort_keys=False)


def codes(folder: Path, text: str, **parts: Any) -> list[tuple[str, int]]:
    folder.mkdir()
    (done,) = outcome(folder, {"secret.yaml": text}, **parts).compilations
    found = done.diagnostics
    places = [(each.code, each.span.line if each.span else 0) for each in found]
    return [place for place in places if not place[0].startswith("YML")]


@pytest.mark.parametrize(("sops", "arn"), [(EXISTING, KEY), (CREATE, ALIAS)])
def test_an_encrypted_secret_is_written_as_it_is(
    tmp_path: Path, sops: dict[str, Any], arn: str
) -> None:
    done = done_of(tmp_path, {"secret.yaml": secret(arn)}, sops=sops)
    assert [each.code for each in done.diagnostics] == []
    (body,) = (each.body for each in done.manifests if each.ref.kind == "Secret")
    assert body == yaml.safe_load(secret(arn))


def test_what_is_not_encrypted_as_it_should_be(tmp_path: Path) -> None:
    assert [code for code, _ in codes(tmp_path / "a", secret())] == ["RES186"]
    other = codes(tmp_path / "b", secret(OTHER), sops=EXISTING)
    assert [code for code, _ in other] == ["RES187"]
    partly = secret(user="whatever")
    found = codes(tmp_path / "c", partly, sops=EXISTING)
    line = partly.splitlines().index("  user: whatever") + 1
    assert ("RES188", line) in found


def test_a_plain_secret_is_refused_beside_it_and_not_printed(
    tmp_path: Path, trainyard: Command
) -> None:
    folder = tmp_path / "specs" / "own"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    plain = yaml.safe_load(secret())
    del plain["sops"]
    plain["stringData"] = {"token": "correct-horse-battery"}
    (folder / "secret.yaml").write_text(yaml.safe_dump(plain))
    data = spec(include=["own"], sops=EXISTING)
    (tmp_path / "specs" / "spec.yaml").write_text(yaml.safe_dump(data))
    done = trainyard("check", "specs/spec.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "ACC014" in done.out
    assert "correct-horse" not in done.out + done.err


def test_only_what_is_included_is_decrypted(tmp_path: Path) -> None:
    plan = done_of(tmp_path, {"secret.yaml": secret()}, sops=EXISTING).plan
    stages = {stage.name: stage.decrypted for stage in plan.of(Stage)}
    assert stages.pop("trainyard-include") is True
    assert not any(stages.values())
    again = lifted(list(lower(plan)), closed=True)
    assert {each.name: each.decrypted for each in again.of(Stage)} == {
        **stages,
        "trainyard-include": True,
    }


def stack(plan: Plan) -> dict[str, Any]:
    body: dict[str, Any] = files(plan)["bootstrap/stacks/sops.yaml"]
    return body["Resources"]  # type: ignore[no-any-return]


def test_the_controller_may_decrypt_with_that_key_alone() -> None:
    resources = stack(plan_of(spec(sops=EXISTING)))
    (policy,) = resources["Role"]["Properties"]["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == ["kms:Decrypt", "kms:DescribeKey"]
    assert statement["Resource"] == KEY
    account = resources["Association"]["Properties"]
    assert account["Namespace"] == "flux-system"
    assert account["ServiceAccount"] == "kustomize-controller"
    assert "Key" not in resources


def test_a_key_that_is_made_is_kept_and_rotated() -> None:
    plan = plan_of(spec(sops=CREATE))
    key = stack(plan)["Key"]
    assert key["DeletionPolicy"] == key["UpdateReplacePolicy"] == "Retain"
    assert key["Properties"]["EnableKeyRotation"] is True
    alias = stack(plan)["Alias"]["Properties"]
    assert ALIAS.endswith(alias["AliasName"])
    stacks = [each for each in lower(plan) if each.format == "cloudformation"]
    assert verified(stacks, Setting()) == []


def test_the_configuration_encrypts_all_values_and_no_name() -> None:
    plan = plan_of(spec(sops=CREATE))
    (made,) = (each for each in lower(plan) if each.format == "sops")
    rules = made.body["creation_rules"]
    assert rules == [{"encrypted_regex": "^(data|stringData)$", "kms": ALIAS}]
    made.body["creation_rules"] = [{"kms": "alias/x", "age": "y"}]
    found = format_of("sops").verified([made], Setting())
    assert sorted(each.code for each in found) == ["SCH001", "SCH003", "SCH006"]


def test_specs_without_it_have_none_of_it() -> None:
    plan = plan_of(spec())
    assert "bootstrap/sops.yaml" not in files(plan)
    bodies = [each.body for each in objects_of(plan) if each.ref.kind == "Kustomization"]
    assert not any("decryption" in body["spec"] for body in bodies)
