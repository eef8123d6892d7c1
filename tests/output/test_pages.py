"""What a page names is there, and its shell can be run; it is judged when it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import SPECS, example, spec
from running import Command
from trainyard.eks.bootstrap import lower as bootstrap
from trainyard.output import Artifact
from trainyard.run.lower import lower
from trainyard.run.passes import setting_of
from trainyard.verify.formats import Setting, unjudged, verified

STACK = Artifact({"Resources": {}}, "bootstrap/stacks/bucket-raw.yaml", format="cloudformation")


def found_in(text: str) -> list[tuple[str, str]]:
    page = Artifact(path="bootstrap/README.md", text=text, format="markdown")
    setting = Setting(others=[page, STACK], folder="generated/lab")
    return [(each.code, each.help) for each in unjudged([page, STACK], setting)]


@pytest.mark.parametrize(
    "text",
    [
        "See [the stack](stacks/bucket-raw.yaml), [here](#top), [AWS](https://aws.amazon.com).\n",
        "```sh\ncat generated/lab/bootstrap/stacks/bucket-raw.yaml  # it's there\n```\n",
        '```sh\nfor s in generated/lab/bootstrap/stacks/*.yaml; do echo "$s"; done\n```\n',
        "```sh\nkubectl apply -f generated/lab/bootstrap/stacks\n```\n",
        "```sh\nkubectl get nodepools.karpenter.sh --all\n```\n",
        "```sh\naws s3 ls s3://x.y.zz --endpoint a.example.com\n```\n",
        "```text\nit's no shell\n```\n",
        "no block at all\n",
    ],
)
def test_a_page_without_fault(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    ("text", "code", "help"),
    [
        (
            "See [the stack](stacks/bucket-rav.yaml).\n",
            "REF001",
            "did you mean `bootstrap/stacks/bucket-raw.yaml`?",
        ),
        (
            "```sh\ncat generated/lab/bootstrap/stacks/bucket-rav.yaml\n```\n",
            "REF001",
            "did you mean `bootstrap/stacks/bucket-raw.yaml`?",
        ),
        ("```sh\nkubectl apply -f generated/lab/flux\n```\n", "REF001", "name a file"),
        (
            "```sh\nkubectl get nodepools.carpenter.sh\n```\n",
            "REF001",
            "did you mean `karpenter.sh`?",
        ),
        ("```sh\necho \"it's\n```\n", "SCH012", "close the quotation"),
        ("```sh\necho a\n", "SCH012", "close it with three backticks"),
    ],
)
def test_what_is_wrong_with_a_page(text: str, code: str, help: str) -> None:
    ((found, reported),) = found_in(text)
    assert (found, reported[: len(help)]) == (code, help)


@pytest.mark.parametrize("name", SPECS)
def test_our_own_pages_are_without_fault(name: str) -> None:
    _, plan = example(name)
    artifacts = lower(plan)
    setting = setting_of(plan, artifacts)
    assert setting.folder
    assert unjudged(artifacts, setting) == []
    shorter = [each for each in artifacts if each.path != "bootstrap/up.sh"]
    found = unjudged(shorter, setting_of(plan, shorter))
    assert {each.code for each in found} == {"REF001"}
    assert all("bootstrap/up.sh" in each.message for each in found)


def test_a_check_makes_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> str:
        raise AssertionError("a page was made")

    page = Artifact(path="a.md", text=made, format="markdown")
    assert verified([page], Setting(others=[page])) == []


def test_a_page_with_a_fault_is_not_written(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is the template's; the finding stands in the spec, and nothing of the folder is written."""

    def page(plan: Any, boot: Any) -> str:
        return "```sh\neksctl create cluster -f generated/lab/bootstrap/eksctl.yml\n```\n"

    monkeypatch.setattr(bootstrap, "_readme", page)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "lab.yaml").write_text(yaml.safe_dump(spec(name="lab"), sort_keys=False))
    assert trainyard("check", "specs", cwd=tmp_path).code == 0
    done = trainyard("compile", "specs", cwd=tmp_path)
    assert done.code == 1
    assert "error[REF001]: a command of `bootstrap/README.md` names" in done.out
    assert "did you mean `bootstrap/eksctl.yaml`?" in done.out
    assert "nothing was written" in done.err or "not written" in done.err
    assert not (tmp_path / "generated").exists()


@pytest.mark.parametrize(("quotation", "codes"), [('"it', ["SCH012"]), ('"it"', [])])
def test_a_script_whose_quotation_does_not_end(quotation: str, codes: list[str]) -> None:
    text = f"#!/bin/bash\necho {quotation}\n"
    script = Artifact(path="bootstrap/up.sh", text=text, format="shell")
    found = unjudged([script], Setting(others=[script]))
    assert [(each.code, str(each.at), each.object) for each in found] == [
        (code, script.id, str(script.ref)) for code in codes
    ]
