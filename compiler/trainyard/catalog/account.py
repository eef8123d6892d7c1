"""What an AWS account needs before a cluster fits into it: service quotas and opt-in Regions."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA

_STANDARD = "Standard (A, C, D, H, I, M, R, T, Z)"


@cache
def _facts() -> dict[str, Any]:
    text = (DATA / "account.json").read_bytes()
    facts: dict[str, Any] = json.loads(text)
    return facts


def opt_in(region: str) -> bool:
    """Whether an account must opt into a Region before it can be used. China and GovCloud are accounts of their own."""
    if region.startswith(("cn-", "us-gov-")):
        return False
    return region not in _facts()["default_regions"]


def vcpu_quota(instance_type: str, market: str) -> tuple[str, str]:
    """Code and name of the quota that counts the vCPUs of a type, ``on-demand`` or ``spot``."""
    letters = re.match(r"[a-z]+", instance_type)
    first = letters[0] if letters else ""
    family = _facts()["families"].get(first, _STANDARD)
    name = f"Running On-Demand {family} instances"
    if market == "spot":
        name = f"All {family} Spot Instance Requests"
    codes = _facts()["vcpus"][market]
    return codes[family], name


def other_quota(what: str) -> tuple[str, str, str]:
    """Service, code and name of another quota: ``gp3``, ``interfaces``, ``vpcs``, ``addresses``."""
    service, code, name = _facts()["others"][what]
    return service, code, name
