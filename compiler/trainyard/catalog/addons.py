"""EKS add-ons that need rights in AWS: eksctl gives them to three by itself, and takes them for the others as they are
said (``data/addons.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AddonRole:
    """A service account of an add-on, and the AWS managed policies that it needs, by name."""

    namespace: str
    service_account: str
    policies: tuple[str, ...]


@cache
def _data() -> dict[str, Any]:
    text = (DATA / "addons.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


def source() -> str:
    """Where the roles are written."""
    whole: str = _data()["source"]
    return whole


def role_of(addon: str) -> AddonRole | None:
    """The role that an add-on needs; ``None`` of one that needs none, and of one that is not known."""
    role = _data()["roles"].get(addon)
    if role is None:
        return None
    return AddonRole(role["namespace"], role["service_account"], tuple(role["policies"]))


def is_known(addon: str) -> bool:
    """Whether it is known what rights an add-on needs."""
    return addon in _data()["roles"]
