"""What a job may take of the secrets of a spec, on any platform: those of its namespace, and keys that they have."""

from __future__ import annotations

from trainyard.core.secrets.spec import Secret
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context


def check_namespace(context: Context, secret: Secret, job: str, namespace: str, at: Route) -> bool:
    """Whether a secret is for the namespace of a job; RES110 where it is not. ``job`` is the job's name, ``at`` where
    it names the secret."""
    if namespace in secret.namespaces:
        return True
    context.fault(
        "RES110",
        f"job `{job}` is in namespace `{namespace}`, and secret `{secret.name}` is for "
        f"{listed(secret.namespaces)}",
        at,
        f"add `{namespace}` to `namespaces` of the secret",
    )
    return False


def check_key(context: Context, secret: Secret, key: str, at: Route) -> bool:
    """Whether a secret has a key; RES110 where it has others. One that names no keys has those of its JSON, which
    nobody knows here."""
    keys = secret.secrets_manager.keys
    if not keys or key in keys:
        return True
    context.fault(
        "RES110",
        f"secret `{secret.name}` has no key `{key}`",
        at,
        f"write one of {listed(keys)}, or add it to `keys` of the secret",
    )
    return False
