"""Secrets: a store in each namespace, an ExternalSecret for each Secret, and rights on just these secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from trainyard.catalog import iam
from trainyard.core.jobs.binding import resolve_jobs
from trainyard.core.jobs.job import Job
from trainyard.core.queues.namespaces import namespace_routes
from trainyard.core.secrets.spec import SecretsSection
from trainyard.core.secrets.taken import check_key as check_secret_key
from trainyard.core.secrets.taken import check_namespace
from trainyard.core.storage.made import check_key
from trainyard.eks.addons.external_secrets import ACCOUNT, COMPONENT, ROLE
from trainyard.eks.flux.accounts import deliverer_in, makes
from trainyard.eks.flux.stages import stage
from trainyard.eks.notifications.stack import namespaces as notified
from trainyard.eks.secrets.plan import (
    API,
    RESOURCES,
    ExternalSecret,
    SecretAccess,
    SecretReader,
    SecretStore,
)
from trainyard.language.places import Route
from trainyard.plan import Duration, PlanNode
from trainyard.plan.context import SPEC, Context, unique

if TYPE_CHECKING:
    from trainyard.core.secrets.spec import Secret

STORE = "secrets-manager"
# The default of the CRD (external-secrets v2.9.0, ExternalSecret refreshInterval).
_REFRESH = Duration.minutes(60)
_LOGIN = "kubernetes.io/dockerconfigjson"


def resolve(context: Context) -> Iterator[PlanNode]:
    """What is read of AWS into Secrets, and who may read it.

    The account is there without secrets as well: Flux deletes those that leave git by its rights.
    """
    known = {**context.once(namespace_routes), **notified(context)}
    yield from deliverer_in(known, _STAGE, _RIGHT)
    sops = SecretsSection.of(context.spec).sops
    if context.included or sops is not None:
        # Most specs have neither.
        from trainyard.eks.secrets.sops import resolve_sops

        yield from resolve_sops(context)
    secrets = SecretsSection.of(context.spec).secrets
    if not secrets:
        return
    at = SPEC / "secrets"
    names = (secret.name for secret in secrets)
    unique(context, "secret", names, at)
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
_RIGHT = makes(API, *RESOURCES)


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
