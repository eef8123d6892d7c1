"""A job runs again where its script is another one: what is said of it alone changes no name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trainyard.core.jobs.spec import Job
from trainyard.extensions.parallelcluster.batch.plan import BatchJob

from tests.platforms.parallelcluster.clusters import files, spec
from tests.platforms.passes import compiled

_MODEL = {"parameters": 8.03e9, "sharding": "full"}
_ADDED: dict[str, Any] = {"expected": "5h", "model": _MODEL}
_NAMED = ("name", "extends")
_DERIVED = ("retries", "launcher", "processesPerNode", "terminationGracePeriod")
"""Keys of which an example is what is derived without it: written, it holds in the next release too."""


def run_of(folder: Path, **keys: Any) -> tuple[str, str]:
    """The name of the run, and its script without it; empty where the job is refused."""
    done = compiled(spec(job=keys), folder)
    scripts = [text for path, text in files(done).items() if path.endswith(".sbatch")]
    jobs = [] if done.plan is None else list(done.plan.of(BatchJob))
    if not scripts or not jobs:
        return "", ""
    return jobs[0].name, scripts[0].replace(jobs[0].name, "NAME")


def edits() -> list[tuple[str, Any]]:
    """Each key of a job with each example that its page has."""
    found = []
    for field in Job.model_fields.values():
        key = field.alias
        if key in (*_NAMED, *_DERIVED) or key is None:
            continue
        found += (
            [(key, _ADDED[key])] if key in _ADDED else [(key, one) for one in field.examples or ()]
        )
    return found


@pytest.mark.parametrize(("key", "value"), edits(), ids=lambda part: str(part)[:24])
def test_a_key_that_is_in_no_line_of_the_script_changes_no_name(
    key: str, value: Any, tmp_path: Path
) -> None:
    before, script = run_of(tmp_path)
    after, edited = run_of(tmp_path, **{key: value})
    if edited == script:
        assert after == before
    elif key in _ADDED:
        pytest.fail("the script says what only people are told")
