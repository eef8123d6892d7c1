"""HelmRelease (helm-controller v1.6.3, api/v2; release names: helm.sh/helm v3 pkg/chartutil)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.names import too_long
from trainyard.verify.syntax import SYNTAXES
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._flux import seconds

GROUP = "helm.toolkit.fluxcd.io"
MOST = 53


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    if seconds(spec.get("interval")) == 0:
        yield refused(
            ("spec", "interval"), "an interval of 0 never ends", help="write an interval like `10m`"
        )
    name = spec.get("releaseName")
    if isinstance(name, str) and len(name) <= MOST and not SYNTAXES["dns-subdomain"].accepts(name):
        yield refused(
            ("spec", "releaseName"),
            f"`{name}` is not a release name",
            f"use {SYNTAXES['dns-subdomain'].help}",
        )
    if name is None:
        yield from _derived_name(body, spec)


def _derived_name(body: Body, spec: Body) -> Iterator[Fault]:
    """Without a name of its own a release is called like the object, after its target namespace if that is given.

    helm-controller cuts what is over the limit and appends a hash (internal/release/name.go), so the release works,
    under a name that nobody wrote: a warning.
    """
    own = str(value_at(body, "metadata", "name") or "")
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
