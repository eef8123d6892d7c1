"""The program that says when a job saved last: on folders of this machine, and over HTTP."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import ROOT
from served import free_port
from trainyard.extensions.observability.checkpoints.scripts import checkpoint_exporter

LABELS = {"training_job": "llama", "persistentvolumeclaim": "checkpoints"}
WRITTEN = '{training_job="llama",persistentvolumeclaim="checkpoints"}'
SCRIPTS = ROOT / "compiler" / "trainyard" / "extensions/observability" / "checkpoints" / "scripts"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two checkpoints of several ranks; the folder of the older one was changed last, as where one is deleted."""
    for step, at in (("step-100", 1000), ("step-200", 2000)):
        (tmp_path / step).mkdir()
        for rank in range(2):
            file = tmp_path / step / f"rank-{rank}.pt"
            file.write_text("x")
            os.utime(file, (at + rank, at + rank))
    os.utime(tmp_path / "step-100", (9000, 9000))
    return tmp_path


def test_the_newest_file_counts_and_no_folder(folder: Path) -> None:
    assert checkpoint_exporter.newest(str(folder)) == 2001


def test_a_folder_that_is_empty_or_not_there_yet_was_never_written(tmp_path: Path) -> None:
    assert checkpoint_exporter.newest(str(tmp_path)) == 0
    assert checkpoint_exporter.newest(str(tmp_path / "later")) == 0


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "round").symlink_to(folder)
    os.utime(folder / "round", (3000, 3000), follow_symlinks=False)
    assert checkpoint_exporter.newest(str(folder)) == 3000


def test_a_file_that_goes_meanwhile_is_none(folder: Path) -> None:
    entries = checkpoint_exporter.listed(str(folder / "step-200"))
    (folder / "step-200" / "rank-1.pt").unlink()
    assert max(map(checkpoint_exporter.written, entries)) == 2000


def test_a_folder_of_too_many_files_is_not_one_of_checkpoints(folder: Path) -> None:
    with pytest.raises(ValueError, match="more than 3 files"):
        checkpoint_exporter.newest(str(folder), most=3)


def samples(watch: checkpoint_exporter.Watch, seconds: float = 0) -> dict[str, str]:
    """The samples of a watch after some seconds, by name."""
    text = checkpoint_exporter.metrics(watch, LABELS, 1800, time.time() + seconds)
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.split()
            found[name.removeprefix("trainyard_checkpoint_").removesuffix(WRITTEN)] = value
    return found


def test_what_cannot_be_read_has_no_interval_so_that_no_alert_can_fire(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    watch = checkpoint_exporter.Watch()
    watch.look(str(folder / "step-100" / "rank-0.pt"))  # no folder
    assert samples(watch) == {"readable": "0"}
    assert "rank-0.pt" in capsys.readouterr().out


def test_a_file_system_that_does_not_answer_is_known_no_longer(folder: Path) -> None:
    watch = checkpoint_exporter.Watch()
    watch.look(str(folder), str(folder))
    assert samples(watch)["last_write_timestamp_seconds"] == "2001.0"
    assert samples(watch, checkpoint_exporter.STALE + 1) == {"readable": "0"}


def test_the_size_of_the_file_system_is_said_where_it_has_one(folder: Path) -> None:
    watch = checkpoint_exporter.Watch()
    watch.look(str(folder))
    assert "storage_size_bytes" not in samples(watch)
    watch.look(str(folder), str(folder))
    found = samples(watch)
    usage = shutil.disk_usage(folder)
    assert int(found["storage_size_bytes"]) == usage.total
    assert 0 < int(found["storage_free_bytes"]) <= usage.total


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    port = free_port()
    command = [
        *(sys.executable, str(SCRIPTS / "checkpoint_exporter.py"), f"--folder={folder}"),
        *("--job=llama", "--claim=checkpoints", "--every=1800", "--look=1", f"--port={port}"),
    ]
    with subprocess.Popen(command) as process:
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def scraped(url: str) -> str:
    with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text: str = answer.read().decode()
        return text


@pytest.mark.slow
def test_it_answers_as_prometheus_asks_and_sees_the_next_save(served: str, folder: Path) -> None:
    deadline = time.monotonic() + 20
    wanted = 2001.0
    while wanted:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        try:
            text = scraped(served)
        except urllib.error.URLError:
            continue
        if f"trainyard_checkpoint_last_write_timestamp_seconds{WRITTEN} {wanted}" not in text:
            continue
        assert f"trainyard_checkpoint_interval_seconds{WRITTEN} 1800" in text
        assert f"trainyard_checkpoint_readable{WRITTEN} 1" in text
        if wanted == 2001.0:
            (folder / "step-300").mkdir()
            file = folder / "step-300" / "rank-0.pt"
            file.write_text("x")
            os.utime(file, (5000, 5000))
            wanted = 5000.0
        else:
            wanted = 0.0
