"""Which cluster answers: the spec's, another one, or nobody can say.

The compilation leaves its cluster's name in the cluster: Flux' Kustomization ``trainyard`` applies the folder
``<output>/<cluster>/flux``. Who may not read it has the name that a context of EKS carries (aws-cli,
``eks update-kubeconfig``: the cluster's ARN; eksctl: ``NAME.REGION.eksctl.io``).
"""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import NamedTuple

from trainyard.eks.flux.stages import PREFIX
from trainyard.extensions.operate.api import Api
from trainyard.extensions.operate.applied import kustomization_path
from trainyard.extensions.operate.faults import ClusterError, RefusedError
from trainyard.output.body import value_at

_ARN = re.compile(r"^arn:[\w-]+:eks:([\w-]+):(\d{12}):cluster/(.+)$")
_EKSCTL = re.compile(r"^(.+)\.([\w-]+)\.eksctl\.io$")


class _UnreadableError(Exception):
    """One may not look what Flux applies."""


class Expected(NamedTuple):
    """The cluster that is meant: its name, and its account and Region, empty where unknown."""

    name: str
    account: str = ""
    region: str = ""


def prove(api: Api, expected: Expected) -> bool:
    """Whether the cluster is certainly the one that is meant; false where nothing says so, nor otherwise.

    Raises ``ClusterError`` where it is another one, and where one may look and nothing of it is there.
    """
    try:
        applied = _applied(api)
    except _UnreadableError:
        return _is_named(api, expected)
    if applied is not None:
        _require(applied == expected.name, api, expected, f"Flux applies `{applied}` in it")
        return True
    if _is_named(api, expected):
        return True
    raise ClusterError(
        "CLU030",
        f"nothing says that context `{api.context.name}` is cluster `{expected.name}`: Flux applies nothing of"
        " Trainyard in it, and it has no name of EKS",
        "name the right one: `--context NAME`; a new cluster is known once `bootstrap/up.sh` has told Flux",
    )


def unproven(api: Api, expected: Expected) -> str:
    """That nothing says which cluster it is."""
    return f"nothing says whether context `{api.context.name}` is the cluster `{expected.name}`"


def doubt(proven: bool) -> str:
    """What follows the name of a context where nobody can say whether it is this cluster."""
    return "" if proven else ", which may be another cluster"


def _applied(api: Api) -> str | None:
    """The cluster whose folder Flux applies; ``None`` where it applies none. Raises where one may not look."""
    try:
        root = api.find(kustomization_path(PREFIX))
    except RefusedError as fault:
        if fault.status == HTTPStatus.FORBIDDEN:
            raise _UnreadableError from fault
        raise
    path = value_at(root, "spec", "path") if root is not None else None
    if not isinstance(path, str):
        return None
    return PurePosixPath(path).parent.name or None


def _is_named(api: Api, expected: Expected) -> bool:
    """Whether the context carries a name of EKS, which is then that of the cluster."""
    for text in (api.context.cluster, api.context.name):
        arn = _ARN.match(text)
        if arn is not None:
            region, account, name = arn.groups()
            wanted = (expected.region or region, expected.account or account, expected.name)
            _require(wanted == (region, account, name), api, expected, f"it is `{text}`")
            return True
        made = _EKSCTL.match(text)
        if made is not None:
            name, region = made.groups()
            wanted_here = (expected.name, expected.region or region)
            _require(wanted_here == (name, region), api, expected, f"it is `{text}`")
            return True
    return False


def _require(same: bool, api: Api, expected: Expected, evidence: str) -> None:
    if same:
        return
    raise ClusterError(
        "CLU006",
        f"context `{api.context.name}` is another cluster than `{expected.name}`: {evidence}",
        "name the right one: `--context NAME`; `kubectl config get-contexts` lists them",
    )
