"""Lift: SecretStores of AWS, and ExternalSecrets (external-secrets.io/v1)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.secrets.plan import ExternalSecret, SecretStore
from trainyard.lift.reader import Reader, name_of, namespace_of
from trainyard.plan.base import PlanItem


def store(body: Reader) -> Iterator[PlanItem]:
    """SecretStore for a service of AWS; of other providers nothing is read."""
    aws = body.follow("spec", "provider", "aws")
    if aws:
        yield SecretStore(
            at=body.at,
            name=name_of(body),
            namespace=namespace_of(body),
            service=(aws / "service").word(),
            region=(aws / "region").word(),
            auth=bool(aws / "auth") or bool(aws / "role"),
        )


def secret(body: Reader) -> Iterator[PlanItem]:
    """ExternalSecret."""
    spec = body / "spec"
    ref = spec / "secretStoreRef"
    target = spec / "target"
    name = name_of(body)
    keys = {}
    for item in (spec / "data").items():
        remote = item / "remoteRef"
        own_key = (item / "secretKey").word()
        key = (remote / "key").word()
        keys[own_key] = (key, (remote / "property").word())
    extracts = [item.follow("extract", "key") for item in (spec / "dataFrom").items()]
    extracted = [extract.word() for extract in extracts]
    yield ExternalSecret(
        at=body.at,
        name=name,
        namespace=namespace_of(body),
        store=(ref / "name").word(),
        store_kind=(ref / "kind").text() or "SecretStore",
        target=(target / "name").text() or name,
        type=target.follow("template", "type").text() or "Opaque",
        refresh=(spec / "refreshInterval").duration(),
        keys=keys,
        extracted=tuple(key for key in extracted if key),
    )


_GROUP = "external-secrets.io"
KINDS = {f"{_GROUP}/SecretStore": store, f"{_GROUP}/ExternalSecret": secret}
