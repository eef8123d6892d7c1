"""torchtune: its command line is torchrun's, with a recipe instead of a script (torchtune 0031bfb, _cli/run.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.torchrun.resolve import Torchrun
from trainyard.core.jobs.launchers.torchtune.released import brought
from trainyard.language.places import Route
from trainyard.plan.context import Context

_RUN = ("tune", "run")


class Torchtune(Torchrun):
    """A recipe on all accelerators of all nodes."""

    def launches(self, parts: Iterable[str]) -> bool:
        """torchtune does itself, however the command starts it."""
        return True

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        spec = job.spec
        words = [*spec.command, *spec.args]
        runs_tune = tuple(words[:2]) == _RUN
        if runs_tune and not words[2].startswith("-"):
            context.doubt(
                "RES131",
                f"job `{job.spec.name}` has the launcher `torchtune`, and its command has no option of torchrun: each "
                "node runs the recipe in one process",
                job.at / "command",
                "write `--rdzv_backend=c10d` after `tune run`",
                source="torchtune 0031bfb, torchtune/_cli/run.py _is_distributed_args",
            )

    def places(self, job: Job) -> Mapping[str, Route]:
        """Faults of an image that comes from the runtime are reported at the runtime's name."""
        places = super().places(job)
        launcher = job.spec.launcher
        torchtune = launcher.torchtune if launcher else None
        brings = brought({"runtime": torchtune.runtime}) if torchtune else {}
        if brings.get("image") != job.spec.image:
            return places
        return {**places, "image": job.at / "launcher" / "torchtune" / "runtime"}

    def explain(self, context: Context, job: Job) -> None:
        super().explain(context, job)
        context.derive(
            job.target,
            "launcher.command",
            " ".join(job.spec.command),
            "what the released runtime runs, with torchrun's rendezvous instead of one on each node",
            "trainer v2.3.0, manifests/base/runtimes/torchtune",
        )


LAUNCHER = Torchtune()
