"""Secrets: a store in each namespace, an ExternalSecret for each Secret, and rights on just these secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog import iam
from trainyard.core.jobs.binding import resolve_jobs
from trainyard.core.jobs.job import Job
from trainyard.core.queues.namespaces import namespace_routes
from trainyard.core.secrets.spec import Secret, SecretsSection
from trainyard.core.secrets.taken import check_key as check_secret_key
from trainyard.core.secrets.taken import check_namespace
from trainyard.core.storage.made import check_key
from trainyard.eks.addons.external_secrets import ACCOUNT, COMPONENT, ROLE
from trainyard.eks.flux.accounts import deliverer_in, may_make
from trainyard.eks.flux.stages import stage
from trainyard.eks.secrets.plan import (
    API,
    CONTROLLER,
    RESOURCES,
    ExternalSecret,
    SecretAccess,
    SecretReader,
    SecretStore,
    SopsKey,
)
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.language.source.include import Included
from trainyard.plan import Duration, PlanItem
from trainyard.plan.context import SPEC, Context, unique_names

# SOPS: what Flux needs to decrypt included files, and whether they are encrypted properly.
#
# Sources: kustomize-controller v1.10, decryption (provider `sops`, AWS KMS by the rights of the controller's pod);
# getsops/sops v3.11.0, README.rst. Flux does not compare the MAC of a file (kustomize-controller, internal/decryptor:
# checkSopsMac), so that an object may be written with its keys in another order.

_AT = SPEC / "sops"
_FIELDS = ("data", "stringData")
_SOURCE = "getsops/sops v3.11.0, README.rst"


def resolve_sops(context: Context) -> Iterator[PlanItem]:
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


STORE = "secrets-manager"
# The default of the CRD (external-secrets v2.9.0, ExternalSecret refreshInterval).
_REFRESH = Duration.minutes(60)
_LOGIN = "kubernetes.io/dockerconfigjson"


def resolve(context: Context) -> Iterator[PlanItem]:
    """What is read of AWS into Secrets, and who may read it.

    The account is there without secrets as well: Flux deletes those that leave git by its rights.
    """
    known = {**context.once(namespace_routes), **context.reading}
    yield from deliverer_in(known, _STAGE, _RIGHT)
    sops = SecretsSection.of(context.spec).sops
    if context.included or sops is not None:
        # Most specs have neither.
        from trainyard.eks.secrets.resolve import resolve_sops

        yield from resolve_sops(context)
    secrets = SecretsSection.of(context.spec).secrets
    if not secrets:
        return
    at = SPEC / "secrets"
    names = (secret.name for secret in secrets)
    unique_names(context, "secret", names, at)
    made: dict[tuple[str, str], Secret] = {}
    stores: dict[str, Route] = {}
    for index, secret in enumerate(secrets):
        here = at / index
        for place, namespace in enumerate(secret.namespaces):
            where = here / "namespaces" / place
            if context.find("RES013", "namespace", namespace, known, where) is not None:
                made[namespace, secret.name] = secret
                stores.setdefault(namespace, where)
                yield _external(secret, namespace, here)
        yield _access(context, secret, here)
    for namespace, where in stores.items():
        yield SecretStore(
            at=where,
            name=STORE,
            namespace=namespace,
            service="SecretsManager",
            region=context.spec.region,
        )
    declared = {secret.name: secret for secret in secrets}
    for job in context.once(resolve_jobs):
        _check_job(context, job, made, declared)
    for namespace, name in made:
        context.external.discard(("v1", "Secret", namespace, name))
    yield _reader(context)
    # A secret that is missing in AWS holds up no other stage: only the pods that need it wait.
    yield stage(context, _STAGE, "platform", account=_STAGE, wait=False)


_STAGE = "secrets"
_RIGHT = may_make(API, *RESOURCES)


def _external(secret: Secret, namespace: str, at: Route) -> ExternalSecret:
    stored = secret.secrets_manager
    name = stored.existing.name
    keys = {}
    for key, part in stored.keys.items():
        keys[key] = (name, part)
    return ExternalSecret(
        at=at,
        name=secret.name,
        namespace=namespace,
        store=STORE,
        target=secret.name,
        type=secret.type,
        refresh=stored.refresh or _REFRESH,
        keys=keys,
        extracted=() if keys else (name,),
        origins={
            "keys": at / "secretsManager" / "keys",
            "extracted": at / "secretsManager" / "existing" / "name",
            "refresh": at / "secretsManager" / "refresh",
            "type": at / "type",
        },
    )


def _access(context: Context, secret: Secret, at: Route) -> SecretAccess:
    spec = context.spec
    stored = secret.secrets_manager.existing
    check_key(context, stored.kms_key, at / "secretsManager" / "existing")
    # Six random characters follow the name in the ARN (Secrets Manager user guide, auth-and-access).
    owner = f"arn:{context.partition}:secretsmanager:{spec.region}:{spec.account}"
    arn = f"{owner}:secret:{stored.name}-??????"
    return SecretAccess(
        at=at, name=secret.name, stored=stored.name, arn=arn, kms_key=stored.kms_key
    )


def _reader(context: Context) -> SecretReader:
    namespace = context.release.chart(COMPONENT).namespace
    return SecretReader(
        at=SPEC / "secrets",
        cluster=context.name,
        role=ROLE.format(context.name),
        namespace=namespace,
        service_account=ACCOUNT,
        trust=iam.pod_identity_trust(context.cluster_arn, namespace, ACCOUNT),
    )


def _check_job(
    context: Context,
    job: Job,
    made: Mapping[tuple[str, str], Secret],
    declared: Mapping[str, Secret],
) -> None:
    """What a job takes of the Secrets that are made here: in its namespace, the keys that there are, logins as such."""
    for index, variable in enumerate(job.spec.secret_env):
        at = job.at / "secretEnv" / index
        secret = _made(context, job, variable.secret, at / "secret", made, declared)
        if secret is not None:
            check_secret_key(context, secret, variable.key, at / "key")
    for index, name in enumerate(job.spec.image_pull_secrets):
        at = job.at / "imagePullSecrets" / index
        secret = _made(context, job, name, at, made, declared)
        if secret is not None and secret.type != _LOGIN:
            context.fault(
                "RES110",
                f"secret `{name}` is of type `{secret.type}`, and images are pulled with `{_LOGIN}`",
                at,
                f"write `type: {_LOGIN}` for the secret, whose JSON has the key `.dockerconfigjson`",
                source="core/v1 PodSpec imagePullSecrets",
            )
    for index, volume in enumerate(job.spec.volumes):
        if volume.secret is not None:
            volume_at = job.at / "volumes" / index
            at = volume_at / "secret" / "secretName"
            _made(context, job, volume.secret.secret_name, at, made, declared)


def _made(
    context: Context,
    job: Job,
    name: str,
    at: Route,
    made: Mapping[tuple[str, str], Secret],
    declared: Mapping[str, Secret],
) -> Secret | None:
    """The secret of a name that is made in the job's namespace; a fault for one that is made only in others."""
    secret = made.get((job.namespace, name))
    if secret is None and name in declared:
        check_namespace(context, declared[name], job.spec.name, job.namespace, at)
    return secret
