"""Runs calls of the AWS CLI in forks of one process that has loaded it: to start it takes most of a second.

``python aws_forks.py``, by the Python of `aws`, reads lines of JSON, the words of a call, and answers each with a line:
the exit status, and what it printed to standard output and standard error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time

import awscli.clidriver  # type: ignore[import-not-found]
import awscli.customizations.cloudformation.deploy  # type: ignore[import-not-found]
import boto3  # noqa: F401

A_WHILE = 0.1
"""Seconds between two questions of those that wait, in place of five to thirty."""


def main() -> None:
    slept = time.sleep
    time.sleep = lambda seconds: slept(min(seconds, A_WHILE))
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = os.fork()
            if not child:
                for number, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, out), (2, err)):
                    os.dup2(file if isinstance(file, int) else file.fileno(), number)
                sys.argv = ["aws", *json.loads(line)]
                status = 255
                try:
                    status = awscli.clidriver.main()
                finally:
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(status or 0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            for file in (out, err):
                file.seek(0)
            sys.stdout.write(json.dumps([status, out.read(), err.read()]) + "\n")
            sys.stdout.flush()


main()
