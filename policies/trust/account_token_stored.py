from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_TYPE = "kubernetes.io/service-account-token"
_ACCOUNT = "kubernetes.io/service-account.name"


@rule("ACC050", severity=Severity.WARNING, kinds=("/Secret",))
def account_token_stored(manifest: Manifest) -> Iterator[Finding]:
    """A Secret asks for a token of a service account that never expires.

    Kubernetes fills it with a login that is valid until the Secret is deleted (Kubernetes, managing service accounts:
    long-lived tokens), and whoever reads Secrets of the namespace has the rights of the account. Pods get a token of an
    hour that is renewed by itself, and people one by `kubectl create token`.

    ## Fails

        apiVersion: v1
        kind: Secret
        metadata: {name: token, namespace: team-a, annotations: {kubernetes.io/service-account.name: deployer}}
        type: kubernetes.io/service-account-token

    ## Passes

        apiVersion: v1
        kind: Secret
        metadata: {name: token, namespace: team-a}
        type: Opaque
    """
    if value_at(manifest.body, "type") != _TYPE:
        return
    account = value_at(manifest.body, "metadata", "annotations", _ACCOUNT)
    yield Finding(
        f"a token of service account `{account}` that never expires is put into Secret `{manifest.ref.name}`",
        Route((manifest.id, "type")),
        label="a login for whoever reads it",
        help="remove it: `kubectl create token` gives one that expires",
    )
