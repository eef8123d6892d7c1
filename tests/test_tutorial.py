"""The tutorial's commands for AWS are those of what its own spec compiles to: names, stacks, versions, flags."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from running import ROOT, spawn
from test_docs import blocks

PAGE = ROOT / "docs" / "tutorial.md"
SPEC = re.compile(r"^cat > specs/lab\.yaml <<'END'\n(.*?)^END$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the spec of the tutorial is compiled to, for people to run."""
    folder = tmp_path_factory.mktemp("tutorial")
    (spec,) = SPEC.findall(PAGE.read_text(encoding="utf-8"))
    (folder / "lab.yaml").write_text(spec, encoding="utf-8")
    assert spawn("compile", "lab.yaml", cwd=folder).code == 0
    return folder / "generated" / "lab" / "bootstrap"


def commands() -> list[str]:
    """The commands of all blocks that need AWS, each on one line."""
    text = "\n".join(blocks(PAGE, "sh")).replace("\\\n", " ")
    return [re.sub(r"\s+#.*| +", " ", line).strip() for line in text.splitlines()]


@pytest.mark.slow
def test_every_command_is_one_of_the_pages_written_for_the_cluster(bootstrap: Path) -> None:
    pages = [*bootstrap.glob("*.md"), *bootstrap.glob("pools/*.md")]
    written = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    known = re.sub(r"\s+", " ", written.replace("\\\n", " "))
    asked = [
        line
        for line in commands()
        if line.startswith(("aws cloudformation", "eksctl", "bash", "flux bootstrap"))
    ]
    assert len(asked) == 2
    for line in asked:
        for word in shlex.split(line):
            if not word.startswith("trainyard-lab-") and "$" not in word:
                assert word in known, (line, word)


@pytest.mark.slow
def test_names_are_those_that_the_cluster_waits_for(bootstrap: Path) -> None:
    text = "\n".join(commands())
    stack = yaml.safe_load((bootstrap / "stacks" / "storage-data.yaml").read_text())
    (bucket,) = (
        resource["Properties"]["BucketName"]
        for resource in stack["Resources"].values()
        if resource["Type"] == "AWS::S3::Bucket"
    )
    assert f"s3://{bucket}/train.py" in text
    pool = (bootstrap / "pools" / "a100.md").read_text(encoding="utf-8")
    assert re.search(r"^placement-group \S+ cluster$", pool, re.MULTILINE)
    eksctl = yaml.safe_load((bootstrap / "eksctl.yaml").read_text())
    assert eksctl["vpc"]["clusterEndpoints"]["publicAccess"] is True
