"""Taint nodes of which a condition is True, and lift the taint once the node has started anew.

Runs in the cluster with nothing but Python. A node that the node-problem-detector finds sick gets a NoSchedule
taint within seconds, so that a restarted gang does not land on it while the node waits to be repaired.

That the condition is False again says nothing of the GPU: the detector's log monitor sets it to True alone, and starts
from False whenever its pod starts, with five minutes of the kernel's log (node-problem-detector v1.35.1,
pkg/systemlogmonitor: generateStatus, initializeStatus). So the taint stays until the node has rebooted, which its boot
id shows, or until somebody takes it away. An annotation of the taint's name keeps boot id and time of the condition
that it was set for: what was taken away is not set again for the same fault.
"""

import argparse
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def in_cluster():
    """Address of the API server and a TLS context that trusts it."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    host = f"[{host}]" if ":" in host else host
    return f"https://{host}:{port}", ssl.create_default_context(cafile=f"{ACCOUNT}/ca.crt")


def token():
    """The account's token, read anew each time: the kubelet rotates it."""
    try:
        with open(f"{ACCOUNT}/token", encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def call(server, context, method, path, body=None):
    """One request to the API server; JSON in, JSON out."""
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": f"Bearer {token()}", "Accept": "application/json"}
    if data:
        headers["Content-Type"] = "application/merge-patch+json"
    request = urllib.request.Request(server + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return json.load(answer)


def nodes(server, context):
    """All nodes, page by page."""
    more = ""
    while True:
        query = urllib.parse.urlencode({"limit": 500, **({"continue": more} if more else {})})
        page = call(server, context, "GET", f"/api/v1/nodes?{query}")
        yield from page["items"]
        more = page["metadata"].get("continue")
        if not more:
            return


def wanted(node, conditions, key):
    """The taints that a node should have, the annotation to go with them, and why; None to leave it as it is."""
    taints = node["spec"].get("taints") or []
    others = [each for each in taints if each["key"] != key]
    tainted = len(others) < len(taints)
    status = node.get("status", {})
    boot = status.get("nodeInfo", {}).get("bootID", "")
    mark = (node["metadata"].get("annotations") or {}).get(key)
    marked_boot, _, marked_since = (mark or "").partition(" ")
    found = [each for each in status.get("conditions") or [] if each["type"] in conditions]
    sick = next((each for each in found if each["status"] == "True"), None)
    if sick is not None:
        since = sick.get("lastTransitionTime", "")
        if mark is not None and marked_since == since:
            return None  # known: tainted, or taken away by somebody, or left over from the boot before
        taint = {"key": key, "value": sick["type"], "effect": "NoSchedule"}
        return [*others, taint], f"{boot} {since}", f"{sick['type']} is True"
    if not tainted:
        return None
    if mark is None:
        return taints, f"{boot} ", "tainted already; it stays until a reboot"
    well = any(each["status"] == "False" for each in found)
    if well and boot and marked_boot != boot:
        return others, None, "rebooted since"
    return None


def sweep(server, context, conditions, key):
    """Look at every node once; returns how many patches were refused."""
    refused = 0
    for node in nodes(server, context):
        change = wanted(node, conditions, key)
        if change is None:
            continue
        taints, mark, why = change
        name, version = node["metadata"]["name"], node["metadata"]["resourceVersion"]
        # With the resourceVersion, a taint that somebody sets meanwhile is not lost: the patch is refused.
        patch = {"metadata": {"resourceVersion": version, "annotations": {key: mark}}, "spec": {"taints": taints}}
        try:
            call(server, context, "PATCH", f"/api/v1/nodes/{name}", patch)
        except urllib.error.HTTPError as problem:
            if problem.code not in (404, 409):  # gone, or changed meanwhile: the next sweep looks again
                refused += 1
                print(f"{name}: patch refused: {problem.code} {reason(problem)}", file=sys.stderr, flush=True)
            continue
        print(f"{name}: taints {[each['key'] for each in taints]}: {why}", flush=True)
    return refused


def reason(problem):
    """What the API server says of a refusal."""
    try:
        return json.load(problem)["message"]
    except (OSError, ValueError, LookupError, TypeError):
        return problem.reason


def main():
    """Sweep for ever."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--condition", action="append", required=True)
    parser.add_argument("--taint", required=True)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two sweeps")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--server", help="address of the API server, instead of the cluster's own")
    options = parser.parse_args()
    server, context = (options.server, None) if options.server else in_cluster()
    while True:
        refused = 0
        try:
            refused = sweep(server, context, set(options.condition), options.taint)
        # The latter three: an answer that is no list of nodes, as a proxy on the way may give.
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
            print(f"sweep failed: {problem!r}", file=sys.stderr, flush=True)
            if options.once:
                return 1
        if options.once:
            return 1 if refused else 0
        time.sleep(options.every)


if __name__ == "__main__":
    sys.exit(main())
