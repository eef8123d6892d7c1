"""HelmRelease (helm-controller v1.6.3, api/v2; release names: helm.sh/helm v3 pkg/chartutil)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.fault import Fault, breaks, refused
from compiler.verify.names import too_long
from compiler.verify.syntax import SYNTAXES
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._flux import exactly_one, seconds

GROUP = "helm.toolkit.fluxcd.io"
MOST = 53
_RETRYING = "RetryOnFailure"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    yield from exactly_one(("spec",), spec, ("chart", "chartRef"))
    if seconds(spec.get("interval")) == 0:
        yield refused(
            ("spec", "interval"), "an interval of 0 never ends", help="write an interval like `10m`"
        )
    if at(spec, "kubeConfig") is not None:
        yield from exactly_one(
            ("spec", "kubeConfig"), spec["kubeConfig"], ("secretRef", "configMapRef")
        )
    yield from _strategies(spec)
    name = spec.get("releaseName")
    if isinstance(name, str) and len(name) <= MOST and not SYNTAXES["dns-subdomain"].accepts(name):
        yield refused(
            ("spec", "releaseName"),
            f"`{name}` is not a release name",
            f"use {SYNTAXES['dns-subdomain'].help}",
        )
    if name is None:
        yield from _derived_name(body, spec)


def _strategies(spec: Body) -> Iterator[Fault]:
    """``retryInterval`` belongs to one strategy (rules of the definition)."""
    for action in ("install", "upgrade"):
        strategy = at(spec, action, "strategy") or {}
        if strategy.get("retryInterval") is not None and strategy.get("name") != _RETRYING:
            yield breaks(
                ("spec", action, "strategy", "retryInterval"),
                f"`{strategy.get('name')}` has no interval",
                f"remove it, or write `name: {_RETRYING}`",
                key=True,
            )


def _derived_name(body: Body, spec: Body) -> Iterator[Fault]:
    """Without a name of its own a release is called like the object, after its target namespace if that is given.

    helm-controller cuts what is over the limit and appends a hash (internal/release/name.go), so the release works,
    under a name that nobody wrote: a warning.
    """
    own = str(at(body, "metadata", "name") or "")
    derived = own
    if spec.get("targetNamespace"):
        derived = f"{spec['targetNamespace']}-{own}"
    if len(derived) > MOST:
        fault = too_long(
            ("metadata", "name"),
            derived,
            MOST,
            "the name of the Helm release is cut and gets a hash",
        )
        yield replace(fault, help="set `releaseName`", warning=True)
