"""A stand-in for ``aws`` and ``pcluster``: an account that remembers what was made, in a file. It is run as both."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

NAME, *WORDS = Path(sys.argv[0]).name, *sys.argv[1:]
STATE = Path(os.environ["ACCOUNT_STATE"])


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def option(name: str) -> str:
    """The value after an option; empty without it."""
    return WORDS[WORDS.index(name) + 1] if name in WORDS else ""


def main() -> int:
    state = (
        json.loads(STATE.read_text())
        if STATE.exists()
        else {"stacks": [], "cluster": "", "calls": []}
    )
    state["calls"].append([NAME, *WORDS])
    code = answered(state)
    STATE.write_text(json.dumps(state))
    killed = os.environ.get("ACCOUNT_KILLS", "")
    if killed and killed in " ".join([NAME, *WORDS]) and not os.environ.get("ACCOUNT_ONCE"):
        os.killpg(0, 9)
    return code


def answered(state: dict[str, object]) -> int:
    return pcluster(state) if NAME == "pcluster" else aws(state)


def pcluster(state: dict[str, object]) -> int:
    match WORDS[0]:
        case "version":
            say(json.dumps({"version": "3.16.1"}))
        case "describe-cluster":
            if not state["cluster"]:
                return 1
            what = {"clusterStatus": state["cluster"], "headNode.instanceId": "i-0a1b2c3d4e5f60718"}
            say(json.dumps(what[option("--query")]))
        case "create-cluster" | "update-cluster" as verb:
            text = Path(option("--cluster-configuration")).read_text()
            assert "$" not in text, text
            if option("--dryrun") == "true":
                same = state.get("configuration") == text
                say(
                    "No changes found in your cluster configuration."
                    if same
                    else "DryRun flag is set"
                )
                return 1
            assert (verb == "create-cluster") is (not state["cluster"])
            state["configuration"] = text
            state["cluster"] = "CREATE_COMPLETE" if verb == "create-cluster" else "UPDATE_COMPLETE"
        case "delete-cluster":
            state["cluster"] = ""
        case other:
            raise SystemExit(f"pcluster {other}")
    return 0


def aws(state: dict[str, object]) -> int:  # noqa: C901 - a table of calls
    stacks = state["stacks"]
    assert isinstance(stacks, list)
    name = option("--stack-name")
    match WORDS[:2]:
        case ["sts", _]:
            say("111122223333")
        case ["cloudformation", "describe-stacks"]:
            if name not in stacks:
                return 1
            query = option("--query")
            if "StackStatus" in query:
                say("CREATE_COMPLETE")
            elif "Group" in query:
                say("sg-0a1b2c3d4e5f60718")
            elif "Id" in query:
                say(f"fs-{len(name):017d}")
        case ["cloudformation", "deploy"]:
            if name not in stacks:
                stacks.append(name)
        case ["cloudformation", "delete-stack"]:
            stacks.remove(name)
        case ["ssm", "send-command"]:
            say("command-1")
        case ["ssm", "get-command-invocation"]:
            say("Success" if option("--query") == "Status" else "done")
        case ["s3", "sync"]:
            assert Path(WORDS[2]).is_dir()
        case ["s3api", "head-bucket"]:
            return 0 if any(stack.endswith("-nodes") for stack in stacks) else 1
        case _:
            pass  # questions whose answer is empty, and what leaves nothing behind
    return 0


if __name__ == "__main__":
    sys.exit(main())
