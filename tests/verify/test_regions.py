"""Every stack that is written, by cfn-lint for the Region that it goes to; and the Regions that lack a type."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import cfn_lint
import pytest
import yaml
from builders import ROOT
from drawn import drawn
from running import Command
from trainyard.catalog import type_regions

pytestmark = pytest.mark.slow

CLUSTERS = sorted((ROOT / "generated").glob("*/bootstrap"))


def region_of(bootstrap: Path) -> str:
    found = re.search(r"^cluster=\S+ region=(\S+)", (bootstrap / "up.sh").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("bootstrap", drawn(CLUSTERS, 3), ids=lambda each: each.parent.name)
def test_each_stack_is_one_of_its_region(bootstrap: Path) -> None:
    by_region: dict[str, list[Path]] = {}
    for file in sorted(bootstrap.rglob("*.yaml")):
        text = file.read_text()
        if "AWSTemplateFormatVersion" in text:
            said = yaml.safe_load(text).get("Metadata", {}).get("Region")
            by_region.setdefault(said or region_of(bootstrap), []).append(file)
    assert by_region
    for region, stacks in by_region.items():
        assert cfn_lint.findings(stacks, "--regions", region) == ""


def test_the_regions_are_those_of_cfn_lint() -> None:
    providers = Path(str(files("cfnlint.data.schemas"))) / "providers"
    known = {each.stem: set(json.loads(each.read_bytes())) for each in providers.glob("*-*.json")}
    for kind in set().union(*known.values()):
        lacking = {
            name for name, kinds in known.items() if kind not in kinds and "-iso" not in name
        }
        assert type_regions.without(kind) == lacking


def test_a_budget_never_lies_in_the_cluster_s_stack(trainyard: Command, tmp_path: Path) -> None:
    """Twenty Regions lack its type: none is refused because of it, but where no Region of the partition has it."""
    text = (ROOT / "specs" / "jakarta-slurm.yaml").read_text()
    (tmp_path / "cluster.yaml").write_text(text)
    assert "PLC106" not in trainyard("check", "cluster.yaml", cwd=tmp_path).out
    text = text.replace("ap-southeast-3", "us-gov-west-1").replace("arn:aws:", "arn:aws-us-gov:")
    (tmp_path / "cluster.yaml").write_text(text)
    found = trainyard("check", "cluster.yaml", cwd=tmp_path).out
    assert "error[PLC106]: `Budget` is of type AWS::Budgets::Budget, which `us-gov-west-1`" in found
    assert "budget: {monthly" in found
