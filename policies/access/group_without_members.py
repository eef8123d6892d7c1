from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Bootstrap, Cluster
from trainyard.eks.rbac.plan import Access
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("ACC002", severity=Severity.NOTE)
def group_without_members(access: Access, world: World) -> Iterator[Finding]:
    """A Kubernetes group has rights, and no access entry has it.

    A cluster whose authentication mode is `API` knows people by its access entries alone, and their groups by
    `kubernetesGroups` (EKS user guide, access-entries). A group that no entry names has rights on paper: only the
    administrators see the team's jobs. Nothing is reported where a cluster may take groups from elsewhere, which
    `lint` cannot know.

    ## Fails

        namespaces: [{name: team-a, group: team-a}]

    ## Passes

        namespaces: [{name: team-a, group: team-a, principals: ["arn:aws:iam::111122223333:role/team-a"]}]
    """
    cluster = world.plan.one(Cluster)
    if cluster is None or not world.plan.closed:
        return
    if not access.namespace:
        return  # what a group reads of the cluster goes with its namespace
    bootstrap = world.plan.one(Bootstrap)
    entries = [*cluster.access, *(bootstrap.access if bootstrap else ())]
    known = {group for entry in entries for group in entry.groups}
    for subject in access.subjects:
        if (
            subject.kind == "Group"
            and subject.name not in known
            and not subject.name.startswith("system:")
        ):
            yield Finding(
                f"nobody logs in as a member of group `{subject.name}`",
                access.at,
                label=f"only administrators see what is in namespace `{access.namespace}`",
                help="create an access entry with this group for the team's IAM roles",
                spec_help="add `principals:` with the ARNs of the team's IAM roles",
            )
