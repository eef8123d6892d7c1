"""Laws for whatever a job says of its pods: what is written reads back, is sound, and is the same every time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from builders import FSX, document, spec
from drawn import examples_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from job_keys import FAST, NO_PLACE_BESIDE_RUNTIME, job_keys, kind_keys
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.plan import TrainJob
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Document
from trainyard.language.source.inherit import inherit
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.plan import PlanItem
from trainyard.run.language.load import load
from trainyard.run.lower import lower
from trainyard.run.resolve import resolve
from trainyard.verify import verify
from trainyard.verify.formats import objects

pytestmark = pytest.mark.slow

LAW = settings(
    max_examples=examples_of(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
POOL = {"nodes": 8, "topology": "network"}
STORAGE = [
    {"name": "data", "s3": {"existing": {"bucket": "my-bucket"}}},
    {"name": FAST["name"], "fsxLustre": {"existing": {**FSX, "version": "2.15"}}},
]
MOUNTS = [{"storage": "data", "path": f"/data/{index}"} for index in (1, 2)]


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """A sound spec of one pool with everything and up to three jobs, which share what they say in any way."""
    kinds = [draw(kind_keys()) for _ in range(draw(st.integers(1, 3)))]
    extends = len(kinds) > 1 and draw(st.booleans())
    if extends:  # what belongs to another kind has no place beside its own
        kinds[1] = kinds[0]
    jobs: list[dict[str, Any]] = [
        {"name": f"j{index}", **draw(job_keys(disks=True, placed=True)), **kind}
        for index, kind in enumerate(kinds)
    ]
    if draw(st.booleans()):
        jobs[0]["mounts"] = [*jobs[0].get("mounts", []), *MOUNTS]
    if extends:
        jobs[1]["extends"] = "j0"
    defaults: dict[str, Any] = {"image": "registry.test/a:1", "command": ["torchrun", "t.py"]}
    if draw(st.booleans()):
        defaults |= draw(job_keys(disks=True, placed=True))
    return spec(
        pool=POOL,
        jobs=jobs,
        jobDefaults=defaults,
        storage=STORAGE,
        components=draw(
            st.sampled_from(
                [None, {"trainer": {"version": "2.1.0"}}, {"trainer": {"version": "2.2.0"}}]
            )
        ),
    )


@st.composite
def stock(draw: st.DrawFn) -> dict[str, Any]:
    """A sound spec of one job that uses a released runtime."""
    keys = draw(job_keys(disks=True, placed=True))
    for key in NO_PLACE_BESIDE_RUNTIME:
        keys.pop(key, None)
    if draw(st.booleans()):
        keys["mounts"] = MOUNTS
    runtime = draw(st.sampled_from(["torch-distributed", "jax-distributed"]))
    image = draw(st.sampled_from([None, "registry.test/a:1"]))
    base: dict[str, Any] = {"image": image, "command": ["python", "t.py"], "runtime": runtime}
    if image is None:  # PyTorch's has no plugin for EFA (RUN120)
        base["nodes"] = 1
    return spec(pool=POOL, storage=STORAGE, job={**base, **keys})


def whole(data: dict[str, Any]) -> Document:
    """The document with every job whole."""
    root, found = inherit(document(json.loads(json.dumps(data))).root)
    assert found == []
    return Document(root)


def in_order(nodes: Iterable[PlanItem]) -> list[PlanItem]:
    """Nodes by their names: the objects of jobs are written by kind."""
    return sorted(nodes, key=lambda node: (str(node.identity), str(node)))


@LAW
@given(specs() | stock())
def test_the_law_holds_for_any_job(data: dict[str, Any]) -> None:
    model, faults = load(whole(data))
    assert model is not None, faults
    plan, found = resolve(model, load_catalog())
    assert [each for each in found if each.severity is Severity.ERROR] == []
    assert plan is not None
    made = objects(lower(plan))
    read = lift(made, closed=True)
    kinds = {type(node) for node in plan.items if node.carried}
    assert {type(node) for node in read.items if node.carried} == kinds
    for kind in kinds:
        assert in_order(read.of(kind)) == in_order(plan.of(kind))
    external = frozenset(ObjectRef(*each) for each in plan.external)
    refused = verify(made, closed=True, external=external)
    assert [each.message for each in refused] == []
    again = load(whole(data))[0]
    assert again is not None
    assert resolve(again, load_catalog())[0] == plan


@LAW
@given(specs())
def test_what_is_inherited_is_what_would_be_written(data: dict[str, Any]) -> None:
    """A spec with every job written out makes the same jobs."""
    document_of = whole(data)
    written = document_of.root.to_python()
    written["spec"].pop("jobDefaults")
    for job in written["spec"]["jobs"]:
        job.pop("extends", None)
    one, other = (load(each)[0] for each in (document_of, document(written)))
    assert one is not None
    assert other is not None
    plans = [resolve(model, load_catalog())[0] for model in (one, other)]
    assert plans[0] is not None
    assert plans[1] is not None
    assert plans[0].of(TrainJob) == plans[1].of(TrainJob)
