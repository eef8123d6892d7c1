"""The account `000000000000`: a warning wherever an account stands, and a text like any other elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import spec

from tests.platforms.passes import codes

NOBODY = 12 * "0"
IMAGE = f"{NOBODY}.dkr.ecr.us-west-2.amazonaws.com/train:1.0"
KEY = f"arn:aws:kms:us-west-2:{NOBODY}:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
ROLE = f"arn:aws:iam::{NOBODY}:role/platform"


def with_job(**words: Any) -> dict[str, Any]:
    return {"jobs": [{**spec()["spec"]["jobs"][0], **words}]}


@pytest.mark.parametrize(
    ("parts", "at"),
    [
        ({"account": NOBODY}, "spec.account"),
        (with_job(image=IMAGE), "spec.jobs[0].image"),
        (
            {"storage": [{"name": "a", "s3": {"create": {"kmsKey": KEY}}}]},
            "spec.storage[0].s3.create.kmsKey",
        ),
        (with_job(env={"ROLE": ROLE}), "spec.jobs[0].env.ROLE"),
        (with_job(env={"SEED": NOBODY}), None),
        (with_job(image=f"registry.test/train:{NOBODY}"), None),
        (with_job(env={"KEY": KEY.replace(NOBODY, "111122223333")}), None),
    ],
)
def test_it_is_said_where_it_is_an_account(
    parts: dict[str, Any], at: str | None, tmp_path: Path
) -> None:
    found = [place for code, place in codes(spec(**parts), tmp_path) if code == "RES503"]
    assert found == ([] if at is None else [at])
