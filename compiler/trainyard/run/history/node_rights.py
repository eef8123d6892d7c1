"""Rights that the nodes of a cluster lose, since an add-on that runs on them has them by a role of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Bootstrap, Cluster
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.plan import Plan
from trainyard.run.history.committed import Committed
from trainyard.run.history.moved import MODULE, STACK


def lost_rights(plan: Plan, committed: Committed) -> Iterator[Diagnostic]:
    """A note on each policy that the committed role of nodes has, and that an add-on has instead."""
    boot, cluster = plan.one(Bootstrap), plan.one(Cluster)
    if boot is None or cluster is None:
        return
    before = committed.text(STACK) or committed.text(MODULE)
    for addon in cluster.addons:
        for arn in addon.policy_arns:
            if arn in before and arn not in boot.node_policies and addon.service_account:
                yield _lost(boot, arn, addon.name, addon.service_account[1])


def _lost(boot: Bootstrap, arn: str, addon: str, account: str) -> Diagnostic:
    return Diagnostic(
        "CHG120",
        Severity.NOTE,
        f"nodes lose `{arn.rpartition('/')[2]}`, which add-on `{addon}` has by a role of its own",
        boot.where("cluster"),
        label=f"`up.sh` takes it from `{boot.node_role}`; nodes and pods go on",
        help=f"`aws eks list-pod-identity-associations --cluster-name {boot.cluster} --service-account {account}` "
        "first: it shows the role of the add-on",
    )
