"""Secrets: where External Secrets reads them, and what it makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.language.units import Duration
from trainyard.plan.base import PlanItem

API = "external-secrets.io"
RESOURCES = ("externalsecrets", "secretstores")
"""The resources of the folder of secrets."""
CONTROLLER = ("flux-system", "kustomize-controller")
"""The service account of Flux' controller that decrypts: its namespace and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretStore(PlanItem):
    """A SecretStore for a service of AWS. Without ``auth`` it is read with the rights of the controller itself."""

    name: str
    namespace: str
    service: str
    region: str
    auth: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSecret(PlanItem):
    """An ExternalSecret, and the Secret ``target`` that is made of it.

    ``keys`` are those of the Secret, each with the secret that it is read from and the key of the JSON in it, empty for
    the whole text; ``extracted`` are secrets of which every key is taken.
    """

    name: str
    namespace: str
    store: str
    store_kind: str = "SecretStore"
    target: str = ""
    type: str = "Opaque"
    refresh: Duration | None = None
    keys: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    extracted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretAccess(PlanItem):
    """What External Secrets may read: a secret of Secrets Manager by its ARN, and the key that encrypts it."""

    carried: ClassVar[bool] = False

    name: str
    stored: str
    arn: str
    kms_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SopsKey(PlanItem):
    """The key that Secrets in git are encrypted with, and the role by which Flux decrypts them.

    ``arn``: of the key or its alias, as SOPS writes it into files; ``alias`` of a key that the bootstrap makes.
    """

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    account: str
    partition: str
    arn: str
    trust: Mapping[str, object]
    alias: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretReader(PlanItem):
    """The role by which External Secrets reads secrets, and the service account that has it."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    role: str
    namespace: str
    service_account: str
    trust: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedSecret(PlanItem):
    """A key of a Secret that something reads and nothing of the spec makes: ``up.sh`` asks for its value."""

    carried: ClassVar[bool] = False

    namespace: str
    name: str
    key: str
