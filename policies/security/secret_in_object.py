from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from trainyard.eks.jobs.plan import FileSet
from trainyard.eks.overrides.plan import IncludedObject, ObjectPatch
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.secrets import carried, forms, in_text, literal
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan

Place = tuple[str | int, ...]


@rule("ACC014")
def secret_in_object(plan: Plan, world: World) -> Iterator[Finding]:
    """An object has a secret as plain text: a Secret in git, the values of a chart, a variable, a URL.

    What is written in git is read by everybody who reads git, and stays in its history (Kubernetes, good practices for
    Secrets); base64 hides nothing. Found by the names of keys that carry credentials (`adminPassword`), and by the form
    of tokens, wherever an object has text; the value is not printed. What SOPS encrypted is no plain text. Variables
    and commands of jobs are RUN024, files RUN051.

    ## Fails

        components: {kueue: {values: {controllerManager: {manager: {podAnnotations: {adminPassword: loki}}}}}}

        components: {kueue: {values: {managerConfig: {controllerManagerConfigYaml: "# hf_abcdefghijklmnopqrstuvwxyz"}}}}

        apiVersion: v1
        kind: Secret
        metadata: {name: hf-token, namespace: team-a}
        stringData: {token: whatever}

        apiVersion: v1
        kind: Secret
        metadata: {name: hf-token, namespace: team-a}
        stringData: {user: "ENC[AES256_GCM,data:p673w==,iv:YY=,aad:UQ=,tag:A=,type:str]", token: whatever}
        sops: {mac: "ENC[AES256_GCM,data:x,type:str]", version: 3.11.0}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: loki, namespace: monitoring}
        spec: {interval: 1h, values: {gateway: {basicAuth: {enabled: true, username: loki, password: loki}}}}

        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: mlflow, namespace: team-a}
        spec:
          selector: {matchLabels: {app: mlflow}}
          template:
            metadata: {labels: {app: mlflow}}
            spec: {containers: [{name: mlflow, image: "mlflow:3", env: [{name: DB_PASSWORD, value: hunter2}]}]}

    ## Passes

        apiVersion: bitnami.com/v1alpha1
        kind: SealedSecret
        metadata: {name: db, namespace: team-a}
        spec: {encryptedData: {client_secret: AgBy3i4OJSWK0PiTySYZZA9rO43cGDEqAx0a1b2c3d4e5f60718293}}

        components: {kueue: {values: {existingSecret: admin, passwordKey: password, existingSecretAdminPassword: admin,
          data: [{secretKey: password, remoteRef: {key: team-a/hf}}], auth: {secretName: a, secretKey: root_password},
          oidc: {secret: {keys: {clientSecret: client_secret}}}, appReference: {clientSecretKey: client-secret}}}}

        apiVersion: v1
        kind: Secret
        metadata: {name: charts, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repository}}
        stringData: {type: helm, name: charts, url: "https://charts.example", enableOCI: "false"}

        apiVersion: v1
        kind: Secret
        metadata: {name: hf-token, namespace: team-a}
        stringData: {token: "ENC[AES256_GCM,data:p673w==,iv:YY=,aad:UQ=,tag:A=,type:str]"}
        sops: {mac: "ENC[AES256_GCM,data:x,type:str]", version: 3.11.0}

        apiVersion: external-secrets.io/v1
        kind: ExternalSecret
        metadata: {name: hf-token, namespace: team-a}
        spec:
          secretStoreRef: {name: aws, kind: SecretStore}
          data: [{secretKey: password, remoteRef: {key: team-a/hf}}]

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: loki, namespace: monitoring}
        spec: {interval: 1h, values: {gateway: {basicAuth: {existingSecret: loki, password: "${LOKI_PASSWORD}"}}}}
    """
    elsewhere = _judged_elsewhere(plan, world)
    included = [node.body for node in plan.of(IncludedObject)]
    everywhere = not plan.closed or bool(plan.of(ObjectPatch))
    for manifest in world.manifests:
        kind = manifest.ref.kind
        if kind == "CustomResourceDefinition":
            continue
        if everywhere or kind in _REACHED or manifest.body in included:
            yield from _in_object(manifest, judged=manifest.id in elsewhere)


# What specs reach of the objects that we write; the others have no text but ours.
_REACHED = (
    "HelmRelease",
    "WorkloadPriorityClass",
    "ConfigMap",
    "Secret",
    "TrainJob",
    "GitRepository",
    "HelmRepository",
    "OCIRepository",
)


def _judged_elsewhere(plan: Plan, world: World) -> set[str]:
    """The ids of objects of which RUN024 or RUN051 judge all but the metadata."""
    places = [files.at for files in plan.of(FileSet)]
    for work in (*world.works, *world.pods):
        places.append(work.at)
        if work.runtime is not None:
            places.append(work.runtime.at)
    return {str(place[0]) for place in places if place}


def _in_object(manifest: Manifest, *, judged: bool) -> Iterator[Finding]:
    kind, group = manifest.ref.kind, manifest.ref.group
    if kind == "Secret" and not group:
        yield from _secret(manifest)
        return
    if judged:
        secrets = _in_metadata(manifest.body.get("metadata"))
    else:
        secrets = _found(manifest.body, (), by_name=group not in _OF_REFERENCES)
    for place, what in secrets:
        yield _finding(manifest, place, what)


# Their keys are called as what they refer to (External Secrets, CSI driver of secrets stores), or have types (kro), or
# values that a controller encrypted (Sealed Secrets).
_OF_REFERENCES = ("external-secrets.io", "secrets-store.csi.x-k8s.io", "kro.run", "bitnami.com")


def _in_metadata(metadata: Any) -> Iterator[tuple[Place, str]]:
    """All but what has the form of a name of DNS, and so of no token. It is asked of every job of a set."""
    for field, values in metadata.items() if isinstance(metadata, dict) else ():
        if field in _NAMES:
            continue
        path = ("metadata", field)
        if field not in _TEXTS or not isinstance(values, dict):
            yield from _found(values, path, by_name=True)
            continue
        for key, text in values.items():
            if isinstance(text, str):
                what = _of_text(str(key), text)
            else:
                what = ""
            if what:
                yield (*path, key), what


_TEXTS = ("labels", "annotations")
_NAMES = ("name", "namespace")


def _finding(manifest: Manifest, path: Place, what: str) -> Finding:
    return Finding(
        f"{what} is in git, in {manifest.ref.kind} `{manifest.ref.name}`",
        Route((manifest.id, *path)),
        secret=True,
        help="put it into a Secret that is not in git (External Secrets), and refer to that",
        spec_help="keep it in AWS Secrets Manager, name that under `secrets:`, and refer to the Secret",
    )


def _secret(manifest: Manifest) -> Iterator[Finding]:
    """A Secret with a value that is neither encrypted nor filled in later."""
    encrypted = "sops" in manifest.body
    public = _PUBLIC
    if _ARGO in mapping(manifest.body, "metadata", "labels"):
        public |= _OF_ARGO
    for field in ("stringData", "data"):
        values = manifest.body.get(field)
        for key, value in values.items() if isinstance(values, dict) else ():
            if encrypted and str(value).startswith("ENC["):
                continue
            if isinstance(value, str) and literal(value) and not _public(key, value, public):
                yield Finding(
                    f"the value of `{key}` is in git, in Secret `{manifest.ref.name}`",
                    Route((manifest.id, field, key)),
                    label="base64 hides nothing" if field == "data" else "",
                    secret=True,
                    help="have it made from what is not in git (External Secrets), or encrypt it (SOPS)",
                )
                return


def _public(key: str, value: str, public: frozenset[str]) -> bool:
    """Whether a key of a Secret is one that everybody may know: a certificate, a name, an address."""
    if key.endswith((".crt", ".pem", ".pub")):
        return "PRIVATE KEY" not in value
    name = key.lower()
    return name in public or name.endswith(("username", "user"))


_PUBLIC = frozenset(
    {
        *(
            "user",
            "userid",
            "known_hosts",
            "authorized_keys",
            "address",
            "url",
            "audience",
            "host",
            "port",
        ),
        *("database", "dbname", "endpoint", "hostname", "region", "restic_repository"),
    }
)
_ARGO = "argocd.argoproj.io/secret-type"
# Argo CD, declarative setup: keys of repositories and clusters that are no credentials.
_OF_ARGO = frozenset(
    {
        *("type", "name", "project", "server", "insecure", "enableoci", "enablelfs", "proxy"),
        *("noproxy", "forcehttpbasicauth", "githubappid", "githubappinstallationid"),
    }
)


def _found(node: Any, path: Place, *, by_name: bool) -> Iterator[tuple[Place, str]]:
    """Each place with a secret, and what it is."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _found(item, (*path, index), by_name=by_name)
        return
    if not isinstance(node, dict):
        if isinstance(node, str):
            yield from ((path, what) for what in forms(node)[:1])
        return
    # Beside these `secretKey` is the key of a Secret: an ExternalSecret in the values of a chart.
    if not _BESIDE.isdisjoint(node):
        node = {key: item for key, item in node.items() if key != "secretKey"}
    variable, value = node.get("name"), node.get("value")
    for key, item in node.items():
        if key in ("managedFields", "status"):
            continue
        here = (*path, key)
        name = str(key)
        if not isinstance(item, str):
            yield from _found(item, here, by_name=by_name and not _refers(name))
            continue
        if key == "value" and isinstance(variable, str) and isinstance(value, str):
            name = variable
        if by_name:
            what = _of_text(name, item)
        else:
            what = "".join(forms(item)[:1])
        if what:
            yield here, what


_BESIDE = frozenset({"remoteRef", "secretName", "existingSecret"})


def _refers(name: str) -> bool:
    """Whether a mapping of this name says where something is: `secret: {keys: {clientSecret: OAUTH_SECRET}}`,
    `clientSecretRef: {clientSecretKey: client-secret}`."""
    return name == "keys" or name.endswith(("Ref", "Reference"))


@lru_cache(maxsize=4096)
def _of_text(name: str, text: str) -> str:
    """What a text under a name has: a value, or lines of a file. Most stand on the objects of every cluster."""
    text = text.rstrip("\n")  # as `password: |` ends a value of one line
    if "\n" in text:
        return in_text(text)
    what = carried(name, text)
    if what == "a secret":
        return f"the value of `{name}`"
    return what
