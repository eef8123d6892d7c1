"""SOPS: what Flux needs to decrypt included files, and whether they are encrypted properly.

Sources: kustomize-controller v1.10, decryption (provider `sops`, AWS KMS by the rights of the controller's pod);
getsops/sops v3.11.0, README.rst. Flux does not compare the MAC of a file (kustomize-controller, internal/decryptor:
checkSopsMac), so that an object may be written with its keys in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog import iam
from trainyard.core.secrets.spec import SecretsSection
from trainyard.eks.secrets.plan import CONTROLLER, SopsKey
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.language.source.include import Included
from trainyard.plan import PlanNode
from trainyard.plan.context import SPEC, Context

_AT = SPEC / "sops"
_FIELDS = ("data", "stringData")
_SOURCE = "getsops/sops v3.11.0, README.rst"


def resolve_sops(context: Context) -> Iterator[PlanNode]:
    """The key and the rights of who decrypts; nothing where the spec has no SOPS."""
    key = sops_key(context)
    for included in context.included:
        metadata = included.body.get("sops")
        if isinstance(metadata, Mapping) and "mac" in metadata:
            _check(context, included, metadata, key)
    if key is not None:
        yield key


def sops_key(context: Context) -> SopsKey | None:
    """The key, as SOPS names it: by its ARN, or by that of the alias that the bootstrap gives it."""
    sops = SecretsSection.of(context.spec).sops
    if sops is None:
        return None
    spec = context.spec
    alias = f"alias/trainyard-{context.name}-sops"
    owner = f"arn:{context.partition}:kms:{spec.region}:{spec.account}"
    arn = f"{owner}:{alias}"
    if sops.existing is not None:
        arn = sops.existing.kms_key
    return SopsKey(
        at=_AT,
        cluster=context.name,
        account=spec.account,
        partition=context.partition,
        arn=arn,
        alias=alias if sops.existing is None else None,
        tags=dict(context.spec.tags),
        trust=iam.pod_identity_trust(context.cluster_arn, *CONTROLLER),
        origins={"arn": _AT / "existing" / "kmsKey"},
    )


def _check(
    context: Context, included: Included, metadata: Mapping[str, Any], key: SopsKey | None
) -> None:
    body, at = included.body, included.at
    named = body.get("metadata")
    name: object = ""
    if isinstance(named, Mapping):
        name = named.get("name")
    what = f"{body['kind']} `{name}`"
    if key is None:
        context.fault(
            "RES186",
            f"{what} is encrypted by SOPS, and nothing in this cluster decrypts it",
            at / "sops",
            "add `sops: {existing: {kmsKey: …}}` with the key that it is encrypted with",
            key=True,
            source="kustomize-controller v1.10, decryption",
        )
        return
    keys = _keys(metadata)
    if key.arn not in keys:
        context.fault(
            "RES187",
            f"{what} is encrypted with "
            f"{listed(sorted(keys)) or 'no key of KMS'}, and this cluster decrypts with "
            f"`{key.arn}`",
            at / "sops",
            f"run `sops updatekeys {included.file}` with the configuration of the cluster",
            key=True,
            source=_SOURCE,
        )
    if body["kind"] == "Secret":
        _check_values(context, what, body, at)


def _keys(metadata: Mapping[str, Any]) -> set[str]:
    """The keys of KMS that a file is encrypted with, those of key groups too."""
    groups = metadata.get("key_groups")
    holders = [metadata]
    if isinstance(groups, list):
        holders += groups
    keys = set()
    for holder in holders:
        entries = None
        if isinstance(holder, Mapping):
            entries = holder.get("kms")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, Mapping):
                keys.add(str(entry.get("arn")))
    return keys


def _check_values(context: Context, what: str, body: Mapping[str, Any], at: Route) -> None:
    for field in _FIELDS:
        values = body.get(field)
        if not isinstance(values, Mapping):
            continue
        for name, value in values.items():
            if not str(value).startswith("ENC["):
                context.fault(
                    "RES188",
                    f"`{name}` of {what} is not encrypted, though the file is",
                    at / field / name,
                    "encrypt the file again with the configuration of the cluster: it encrypts all of `data` and "
                    "`stringData`",
                    key=True,
                    source=_SOURCE,
                )
