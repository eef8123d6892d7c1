"""Say to Prometheus when something was last written below the folder to which a job saves, and what is free there.

Runs beside the job and not in it, with nothing but Python, and mounts the job's storage to read. The time is that of
the newest file: that of a folder would also change where a checkpoint is deleted. Links are not followed. How large the
file system is, and what of it is free, no driver of CSI says for Lustre.
"""

import argparse
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MOST = 100_000
"""Files that are looked at: a folder with more is not one of checkpoints."""
STALE = 900
"""Seconds after which an answer is too old to be given: the file system does not answer."""


def newest(folder, most=MOST):
    """The time of the newest file below a folder, in seconds since 1970; 0 where there is none.

    Raises OSError where a folder cannot be read, and ValueError where there is too much in it.
    """
    last = 0.0
    seen = 0
    waiting = [folder]
    while waiting:
        for entry in listed(waiting.pop()):
            seen += 1
            if seen > most:
                raise ValueError(f"more than {most} files in {folder}")
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                last = max(last, written(entry))
    return last


def listed(folder):
    """What is in a folder; nothing where it is gone or not there yet."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def written(entry):
    """When a file was written; 0 where it is gone."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return 0.0


def space(folder):
    """Bytes of the file system that a folder is on, and bytes of it that others than root can fill."""
    found = os.statvfs(folder)
    return found.f_frsize * found.f_blocks, found.f_frsize * found.f_bavail


class Watch:
    """What is known of a folder: ``last``, the time of its newest file, ``None`` where it cannot be read; ``room``, the
    size of its file system and what is free, ``None`` where nobody asks; and ``at``, when that was looked at."""

    def __init__(self):
        self.last = None
        self.room = None
        self.at = time.time()

    def look(self, folder, mount=None):
        """Look, and print what is new: `trainyard status` reads the last line."""
        before = self.last
        try:
            self.last = newest(folder)
            self.room = None if mount is None else space(mount)
        except (OSError, ValueError) as fault:
            print(f"{folder}: {fault}", flush=True)
            self.last = self.room = None
        if self.last is not None and self.last != before:
            print(f"last write: {self.last:.0f}", flush=True)
        self.at = time.time()

    def is_fresh(self, now):
        return now - self.at < STALE


def metrics(watch, labels, every, now):
    """The text format of Prometheus. How often the job saves is said only where its saves are seen."""
    last = watch.last if watch.is_fresh(now) else None
    room = watch.room if watch.is_fresh(now) else None
    readable = int(last is not None)
    lines = sample("readable", "whether the folder of checkpoints can be read", labels, readable)
    if last is not None:
        lines += sample("interval_seconds", "how often the job is to save", labels, every)
        lines += sample("last_write_timestamp_seconds", "when a file was last written", labels, last)
    if room is not None:
        size, free = room
        lines += sample("storage_size_bytes", "size of the file system of checkpoints", labels, size)
        lines += sample("storage_free_bytes", "what is free of it", labels, free)
    return "".join(f"{line}\n" for line in lines)


def sample(name, help, labels, value):
    name = f"trainyard_checkpoint_{name}"
    listed = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return [f"# HELP {name} {help}", f"# TYPE {name} gauge", f"{name}{{{listed}}} {value}"]


def handler(watch, labels, every):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            text = "metrics are at /metrics\n"
            if self.path == "/metrics":
                text = metrics(watch, labels, every, time.time())
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            """Keep quiet: a scrape is not worth a line."""

    return Handler


def looking(watch, folder, mount, seconds):
    """Look again and again: a file system that does not answer holds up this thread, and no scrape."""
    while True:
        watch.look(folder, mount)
        time.sleep(seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--mount", help="where the file system is whose size is to be said")
    parser.add_argument("--job", required=True)
    parser.add_argument("--claim", required=True, help="the claim of the job's storage")
    parser.add_argument("--every", type=int, required=True, help="seconds between two saves")
    parser.add_argument("--look", type=int, default=60, help="seconds between two looks")
    parser.add_argument("--port", type=int, default=9811)
    given = parser.parse_args()
    watch = Watch()
    looked = (watch, given.folder, given.mount, given.look)
    threading.Thread(target=looking, args=looked, daemon=True).start()
    labels = {"training_job": given.job, "persistentvolumeclaim": given.claim}
    served = handler(watch, labels, given.every)
    ThreadingHTTPServer(("", given.port), served).serve_forever()


if __name__ == "__main__":
    main()
