"""The output of ``drill``: the Job, and above it, as comments, what must happen once it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainyard.cli.streams import UsageError
from trainyard.extensions.forecast.drill import XID, NoDrillError, drill, steps
from trainyard.language.models.types import SUBDOMAIN
from trainyard.output.emit.yaml import dump
from trainyard.plan import Plan


def text(plans: Sequence[Plan], node: str, xid: int | None) -> str:
    """The manifest of one cluster's drill.

    Raises ``UsageError`` for several clusters, and where nothing would follow.
    """
    if len(plans) != 1:
        raise UsageError(f"a drill is for one cluster: name its spec, of {len(plans)}")
    if not re.fullmatch(SUBDOMAIN, node):
        raise UsageError(f"`{node}` is no name of a node: write one of `kubectl get nodes`")
    (plan,) = plans
    if xid is None:
        xid = XID
    try:
        job = drill(plan, node, xid)
    except NoDrillError as problem:
        raise UsageError(str(problem)) from None
    lines = steps(plan, node)
    comments = [f"# {line}\n" for line in lines]
    return "".join(comments) + dump(job.body)
