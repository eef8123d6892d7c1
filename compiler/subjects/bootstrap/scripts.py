"""The way up and the way down of a cluster: two scripts of named steps, which find what they run in their folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compiler.output import Artifact
from compiler.plan import Plan
from compiler.subjects.cluster.plan import Bootstrap, Cluster
from compiler.subjects.network.plan import MadeNetwork
from compiler.targets.text import rendered

NAMES = ("up", "down")


def way_up_and_down(
    plan: Plan,
    boot: Bootstrap,
) -> Iterator[Artifact]:
    """``up.sh`` and ``down.sh``. No job, pool or storage stands in them, so that they are the same in every branch."""
    for name in NAMES:
        yield Artifact(
            path=f"bootstrap/{name}.sh",
            at=boot.where("cluster"),
            text=_text(plan, boot, name),
            format="shell",
        )


def _text(
    plan: Plan,
    boot: Bootstrap,
    name: str,
) -> Callable[[], str]:
    def text() -> str:
        # The readers of all kinds are needed by nothing else that a check does.
        from compiler.subjects.workloads.resources import job_resources

        return rendered(
            "compiler.subjects.bootstrap",
            f"{name}.sh.j2",
            boot=boot,
            cluster=plan.one(Cluster),
            network=plan.one(MadeNetwork),
            kinds=job_resources(),
        )

    return text
