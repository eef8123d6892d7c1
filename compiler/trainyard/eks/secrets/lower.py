"""Lower: SecretStores and ExternalSecrets (external-secrets.io/v1, v2.9.0), and the stacks with the rights to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.eks.secrets.plan import (
    CONTROLLER,
    ExternalSecret,
    SecretAccess,
    SecretReader,
    SecretStore,
    SopsKey,
)
from trainyard.language.places import Route
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import NO_PRUNE, fields_given, manifest_in, object_head
from trainyard.output.lowering.templates import (
    KEPT,
    STACKS,
    inline_policy,
    pod_identity,
    role_policy,
    tag_list,
    template,
)
from trainyard.output.manifest import Body
from trainyard.plan import Plan

API = "external-secrets.io/v1"
FOLDER = "secrets"


def lower(plan: Plan) -> Iterator[Artifact]:
    """A store for each namespace, an ExternalSecret for each Secret; a stack for the reader, one for each secret.

    Flux prunes no secret: the pods of a run that goes on may still need it.
    """
    for store in plan.of(SecretStore):
        yield manifest_in(FOLDER, store_body(store), store.at)
    for secret in plan.of(ExternalSecret):
        body = secret_body(secret)
        places: Places = {
            ("spec", "data"): secret.where("keys"),
            ("spec", "dataFrom"): secret.where("extracted"),
            ("spec", "refreshInterval"): secret.where("refresh"),
            ("spec", "target", "template"): secret.where("type"),
        }
        yield manifest_in(FOLDER, body, secret.at, places)
    key = plan.one(SopsKey)
    if key is not None:
        yield _stack("sops", "How Flux decrypts Secrets", _decryption(key), key.at)
        yield Artifact(
            {"creation_rules": [{"encrypted_regex": _ENCRYPTED, "kms": key.arn}]},
            "bootstrap/sops.yaml",
            key.at,
            {("creation_rules", 0, "kms"): key.where("arn")},
            format="sops",
        )
    reader = plan.one(SecretReader)
    if reader is None:
        return
    yield _stack("external-secrets", "The role of External Secrets", _role(reader), reader.at)
    for access in plan.of(SecretAccess):
        description = f"What External Secrets may do with secret {access.stored}"
        resources = {"Policy": _policy(reader, access)}
        yield _stack(f"secret-{access.name}", description, resources, access.at)


def store_body(store: SecretStore) -> Body:
    """SecretStore without `auth`: the controller's pod identity reads, since no other can be assumed with one
    (external-secrets v2.9.0, docs/provider/aws-access.md)."""
    aws = {"service": store.service, "region": store.region}
    return {
        **object_head(API, "SecretStore", store.name, store.namespace, annotations=NO_PRUNE),
        "spec": {"provider": {"aws": aws}},
    }


def secret_body(secret: ExternalSecret) -> Body:
    """ExternalSecret; what its CRD sets by default is said, so that nothing is left to it."""
    template = None
    if secret.type != "Opaque":
        template = {"type": secret.type}
    target = fields_given(
        name=secret.target, creationPolicy="Owner", deletionPolicy="Retain", template=template
    )
    data = [
        {"secretKey": key, "remoteRef": _remote(stored, part)}
        for key, (stored, part) in secret.keys.items()
    ]
    extracted = [{"extract": {"key": stored}} for stored in secret.extracted]
    spec = fields_given(
        refreshInterval=str(secret.refresh) if secret.refresh else None,
        secretStoreRef={"kind": secret.store_kind, "name": secret.store},
        target=target,
        data=data,
        dataFrom=extracted,
    )
    metadata = object_head(
        API, "ExternalSecret", secret.name, secret.namespace, annotations=NO_PRUNE
    )
    return {**metadata, "spec": spec}


def _remote(stored: str, part: str) -> Body:
    reference = {"key": stored}
    if part:
        reference["property"] = part
    return reference


def _stack(name: str, description: str, resources: dict[str, Any], at: Route) -> Artifact:
    body = template(description, resources)
    return Artifact(body, f"{STACKS}/{name}.yaml", at, format="cloudformation")


_ENCRYPTED = "^(data|stringData)$"
"""What is encrypted of a Secret: its name and namespace must stay readable (Flux documentation, mozilla-sops guide)."""


def _decryption(key: SopsKey) -> dict[str, Any]:
    """The role of kustomize-controller, and the key with its alias where the bootstrap makes it.

    AWS::KMS::Key and AWS::KMS::Alias (CloudFormation template reference). The policy of the key leaves the decision to
    IAM, as that of the console does (KMS developer guide, key-policy-default).
    """
    resource: Any = key.arn
    made: dict[str, Any] = {}
    if key.alias is not None:
        resource = {"Fn::GetAtt": ["Key", "Arn"]}
        root = f"arn:{key.partition}:iam::{key.account}:root"
        owner = {"Effect": "Allow", "Principal": {"AWS": root}, "Action": "kms:*", "Resource": "*"}
        made["Key"] = {
            "Type": "AWS::KMS::Key",
            **KEPT,
            "Properties": fields_given(
                Description=f"Secrets of cluster {key.cluster} in git",
                EnableKeyRotation=True,
                KeyPolicy={"Version": "2012-10-17", "Statement": [owner]},
                Tags=tag_list(key.tags),
            ),
        }
        made["Alias"] = {
            "Type": "AWS::KMS::Alias",
            **KEPT,
            "Properties": {"AliasName": key.alias, "TargetKeyId": {"Ref": "Key"}},
        }
    rights = {"Effect": "Allow", "Action": ["kms:Decrypt", "kms:DescribeKey"], "Resource": resource}
    policy = inline_policy("decrypt", [rights])
    role = {"AssumeRolePolicyDocument": dict(key.trust), "Policies": [policy]}
    return {**made, **pod_identity(role, key.cluster, *CONTROLLER)}


def _role(reader: SecretReader) -> dict[str, Any]:
    role = {"RoleName": reader.role, "AssumeRolePolicyDocument": dict(reader.trust)}
    return pod_identity(role, reader.cluster, reader.namespace, reader.service_account)


def _policy(reader: SecretReader, access: SecretAccess) -> dict[str, Any]:
    """The rights on one secret (external-secrets v2.9.0, docs/provider/aws-secrets-manager.md, but for listing)."""
    statements: list[dict[str, Any]] = [
        {
            "Effect": "Allow",
            "Action": ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
            "Resource": access.arn,
        }
    ]
    if access.kms_key is not None:
        statements.append(
            {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": access.kms_key}
        )
    return role_policy(f"secret-{access.name}", reader.role, statements)
