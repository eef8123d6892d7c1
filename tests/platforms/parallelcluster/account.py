"""An account behind stand-ins for ``aws`` and ``pcluster``, which remembers what was made."""

from __future__ import annotations

import json
from pathlib import Path

from answering import Answering, RefusedError


def option(words: list[str], name: str) -> str:
    """The value after an option; empty without it."""
    return words[words.index(name) + 1] if name in words else ""


class Account(Answering):
    """Its stacks, and the cluster with its configuration."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.stacks: list[str] = []
        self.status = self.configuration = ""
        self.unreachable = False
        """Whether AWS does not answer pcluster."""
        self.creates_as = "CREATE_COMPLETE"
        """How a cluster is once it was to be made."""
        self.file_systems: list[str] = []
        self.links: list[str] = []
        self.groups: list[str] = []
        self.asked_of: dict[str, int] = {}
        """How often it was asked of a file system that is deleted, or of its links: both go after the second time."""

    def answer(self, call: list[str], stdin: str) -> str:
        self.calls.append(call)
        program, *words = call
        answer = self.pcluster(words) if program == "pcluster" else self.aws(words)
        return f"{answer}\n" if answer else ""

    def pcluster(self, words: list[str]) -> str:
        match words[0]:
            case "version":
                return json.dumps({"version": "3.16.1"})
            case "describe-cluster":
                if self.unreachable:
                    raise RefusedError('{"message": "Unable to locate credentials"}')
                if not self.status:
                    raise RefusedError('{"message": "Cluster \'jakarta-slurm\' does not exist"}')
                what = {"clusterStatus": self.status, "headNode.instanceId": "i-0a1b2c3d4e5f60718"}
                return json.dumps(what[option(words, "--query")])
            case "create-cluster" | "update-cluster" as verb:
                self._configured(verb, words)
            case "delete-cluster":
                self.status = self.configuration = ""
            case other:
                raise AssertionError(f"pcluster {other}")
        return ""

    def _configured(self, verb: str, words: list[str]) -> None:
        text = Path(option(words, "--cluster-configuration")).read_text()
        assert "$" not in text, text
        if option(words, "--dryrun") == "true":
            if self.configuration == text:
                raise RefusedError("No changes found in your cluster configuration.")
            raise RefusedError("DryRun flag is set")
        assert (verb == "create-cluster") is (not self.status), f"{verb} of {self.status}"
        if "FAILED" in self.status and verb == "update-cluster" and "CREATE" in self.status:
            raise RefusedError("the cluster was not made")
        self.configuration = text
        self.status = self.creates_as if verb == "create-cluster" else "UPDATE_COMPLETE"

    def aws(self, words: list[str]) -> str:
        name, query = option(words, "--stack-name"), option(words, "--query")
        match words[:2]:
            case ["sts", _]:
                return "111122223333"
            case ["cloudformation", "describe-stacks"]:
                return self._described(name, query)
            case ["cloudformation", "deploy"]:
                if name not in self.stacks:
                    self.stacks.append(name)
            case ["cloudformation", "delete-stack"]:
                # CloudFormation deletes what is not there without a word.
                self.stacks = [each for each in self.stacks if each != name]
            case ["fsx", _] | ["ec2", _]:
                return self._data(words, query)
            case ["ssm", "send-command"]:
                return "command-1"
            case ["ssm", "get-command-invocation"]:
                return "Success" if query == "Status" else "done"
            case ["s3", "sync"]:
                assert Path(words[2]).is_dir()
            case ["s3api", "head-bucket"]:
                if not any(stack.endswith("-nodes") for stack in self.stacks):
                    raise RefusedError("An error occurred (404): Not Found")
        return ""  # to other questions the answer is empty, and what else is done leaves nothing

    def _data(self, words: list[str], query: str) -> str:
        """File systems with their links and security groups."""
        match words[:2]:
            case ["fsx", "describe-file-systems"]:
                return self._file_systems(words, query)
            case ["fsx", "delete-file-system"]:
                one = option(words, "--file-system-id")
                assert one in self.file_systems
                assert not self.links
                self.asked_of[one] = 0
            case ["fsx", "describe-data-repository-associations"]:
                found = "\t".join(self.links)
                if "links" in self.asked_of:
                    self.asked_of["links"] += 1
                    if self.asked_of["links"] > 2:
                        self.links = []
                return found
            case ["fsx", "delete-data-repository-association"]:
                self.asked_of.setdefault("links", 0)
            case ["ec2", "describe-security-groups"]:
                return "\t".join(self.groups)
            case ["ec2", "delete-security-group"]:
                if self.file_systems:
                    raise RefusedError("DependencyViolation: a network interface has the group")
                self.groups.remove(option(words, "--group-id"))
        return ""

    def _file_systems(self, words: list[str], query: str) -> str:
        for one in [*self.file_systems]:
            if one in self.asked_of:
                self.asked_of[one] += 1
                if self.asked_of[one] > 2:
                    self.file_systems.remove(one)
        if "Lifecycle" in query:
            return "AVAILABLE"
        return "\t".join(one for one in self.file_systems if "Tags" in query or one in query)

    def _described(self, name: str, query: str) -> str:
        if name not in self.stacks:
            raise RefusedError("Stack does not exist")
        if "StackStatus" in query:
            return "CREATE_COMPLETE"
        if "Group" in query:
            return "sg-0a1b2c3d4e5f60718"
        if "Id" in query:
            return f"fs-{len(name):017d}"
        return ""
