"""AWS managed policies: every ARN that is written is one that IAM knows."""

from __future__ import annotations

import pytest
from trainyard.catalog import iam, managed_policies
from trainyard.catalog.catalog import DATA
from trainyard.eks.addons import AddOn, addons
from trainyard.extensions.facts.build import dump
from trainyard.extensions.facts.build import managed_policies as built

ROLES = [add_on for add_on in addons().values() if add_on.role is not None]


@pytest.mark.slow
def test_the_table_is_what_the_locked_packages_say() -> None:
    committed = (DATA / "managed_policies.json").read_text("utf-8")
    assert committed == dump(built())


def test_the_path_is_part_of_the_arn() -> None:
    arn = managed_policies.arn_of
    assert arn("AmazonEBSCSIDriverPolicyV2") == (
        "arn:aws:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"
    )
    assert arn("AWSDataLifecycleManagerServiceRole", "aws-cn") == (
        "arn:aws-cn:iam::aws:policy/service-role/AWSDataLifecycleManagerServiceRole"
    )


@pytest.mark.parametrize("add_on", ROLES, ids=lambda add_on: add_on.component)
def test_each_add_on_names_policies_that_exist(add_on: AddOn) -> None:
    assert add_on.role is not None
    for name in add_on.role.managed:
        assert managed_policies.path_of(name) is not None, name


@pytest.mark.parametrize("owner", ["karpenter", "auto_mode"])
def test_the_roles_of_nodes_name_policies_that_exist(owner: str) -> None:
    assert iam.node_role_policies("aws", owner)
