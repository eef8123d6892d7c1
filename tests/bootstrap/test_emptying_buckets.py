"""A bucket is emptied by the real AWS CLI, against moto's S3: all versions of all keys, however many and long."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from builders import ROOT
from world import ACCOUNT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed"),
]

SCRIPTS = sorted((ROOT / "generated").glob("*/bootstrap/down.sh"))
ONE_ARGUMENT = 128 * 1024
"""The most bytes of one argument of a command on Linux (execve(2), MAX_ARG_STRLEN)."""
A_CALL = 1000
"""The most versions that one call lists or deletes (S3 API, DeleteObjects)."""
NEEDED = ("fail", "refused", "ask", "there", "say", "empty")


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of moto's S3, whose address the AWS CLI has too."""
    monkeypatch.setenv("MOTO_ACCOUNT_ID", ACCOUNT)
    server = import_module("moto.server").ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield import_module("boto3").client("s3")
    # What moto keeps is the process', and other tests ask whether nothing is left.
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    server.stop()


def functions(script: Path) -> str:
    """What the script empties a bucket by: functions of one line, and of several that end in a line of their own."""
    text = script.read_text()
    found = [re.search(r"^none=.*$", text, re.MULTILINE)]
    for name in NEEDED:
        one_line = rf"^{name}\(\) \{{.*\}}$"
        several = rf"^{name}\(\) \{{\n(?:.*\n)*?\}}$"
        found.append(re.search(f"{one_line}|{several}", text, re.MULTILINE))
    return "\n".join(each[0] for each in found if each is not None)


def filled(s3: Any, bucket: str, versions: int) -> int:
    """Makes a bucket with versions and a delete marker of keys that are as long as those of checkpoints; the bytes of
    a request that names all of them."""
    s3.create_bucket(Bucket=bucket)
    on = {"Status": "Enabled"}
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=on)
    folder = "checkpoints/" + "a-model-of-some-length/" * 6
    kept = import_module("moto.backends").get_backend("s3")[ACCOUNT]["aws"]
    for number in range(versions // 2):
        for body in (b"1", b"2"):  # one request each takes ten times as long
            kept.put_object(bucket, f"{folder}{number:06}", body)
    s3.delete_object(Bucket=bucket, Key=f"{folder}{0:06}")
    return versions * len(folder)


def left(s3: Any, bucket: str) -> list[Any]:
    answer = s3.list_object_versions(Bucket=bucket)
    return [*answer.get("Versions", ()), *answer.get("DeleteMarkers", ())]


def test_a_bucket_with_more_versions_than_a_call_takes_is_empty_at_the_end(
    s3: Any, tmp_path: Path
) -> None:
    said = filled(s3, "data", A_CALL + 200)
    assert said > ONE_ARGUMENT, "else one argument would do"
    assert left(s3, "data")
    different = {functions(script) for script in SCRIPTS}
    assert len(different) == 1, "one script stands for all"
    settings = f"set -euo pipefail\ndry='' step='' again='' work={tmp_path}"
    command = ["bash", "-c", f"{settings}\n{different.pop()}\nempty data"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(s3, "data") == []
