"""Signatures of charts: whether Flux can verify them, and whose they must be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainyard.language.places import Route
from trainyard.language.re2 import compile_re2
from trainyard.plan.context import SPEC, Context

if TYPE_CHECKING:
    from trainyard.eks.overrides.spec import ChartSignature


def has_signer(context: Context, name: str, verify: ChartSignature) -> bool:
    """Whether Flux can check a signature, and whether it is somebody's.

    With cosign and neither keys nor identities every signature counts; notation has no other way than a Secret
    (source-controller v1.10, ocirepository_controller.go).
    """
    at = SPEC / "components" / name / "verify"
    chart = context.release.components[name].chart
    if chart is None or chart.kind != "oci":
        fact = f"`{name}` comes from no OCI registry, so Flux finds no signature of its chart"
        context.fault("RES239", fact, at, "remove it")
        return False
    if verify.secret_ref is None and not (
        verify.provider == "cosign" and verify.match_oidc_identity
    ):
        help = "add `secretRef: {name: …}`, a Secret of `flux-system` with the keys"
        if verify.provider == "cosign":
            help += "; or `matchOIDCIdentity` with who signs"
        fact = f"the signature of `{name}` may be anybody's: neither keys nor a signer are named"
        context.fault("RES239", fact, at, help)
        return False
    if verify.secret_ref is not None and verify.match_oidc_identity:
        fact = f"the chart of `{name}` is checked by keys, and `matchOIDCIdentity` is then not looked at"
        context.fault("RES239", fact, at / "matchOIDCIdentity", "remove one of them")
        return False
    return _are_patterns(context, verify, at / "matchOIDCIdentity")


def _are_patterns(context: Context, verify: ChartSignature, at: Route) -> bool:
    for index, signer in enumerate(verify.match_oidc_identity):
        for key, pattern in (("issuer", signer.issuer), ("subject", signer.subject)):
            try:
                compile_re2(pattern)
            except re.error as fault:
                fact = f"`{pattern}` is no regular expression: {fault.msg}"
                context.fault(
                    "RES239",
                    fact,
                    at / index / key,
                    "write one of Go, like `^https://github.com/team/.+$`",
                )
                return False
    return True
