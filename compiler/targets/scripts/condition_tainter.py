"""Taint nodes while one of their conditions is True, and lift the taint when it is not.

Runs in the cluster with nothing but Python. A node that the node-problem-detector finds sick gets a NoSchedule
taint within seconds, so that a restarted gang does not land on it while the node waits to be repaired.
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


def wanted_taints(node, conditions, key):
    """The taints that a node should have, or None if it has them."""
    taints = node["spec"].get("taints") or []
    found = node.get("status", {}).get("conditions") or []
    sick = next((each["type"] for each in found if each["type"] in conditions and each["status"] == "True"), None)
    others = [each for each in taints if each["key"] != key]
    wanted = [*others, {"key": key, "value": sick, "effect": "NoSchedule"}] if sick else others
    return None if len(wanted) == len(taints) else wanted


def sweep(server, context, conditions, key):
    """Look at every node once; returns how many were changed."""
    changed = 0
    for node in nodes(server, context):
        taints = wanted_taints(node, conditions, key)
        if taints is None:
            continue
        name = node["metadata"]["name"]
        # With the resourceVersion, a taint that somebody sets meanwhile is not lost: the patch is refused.
        patch = {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"]}, "spec": {"taints": taints}}
        try:
            call(server, context, "PATCH", f"/api/v1/nodes/{name}", patch)
        except urllib.error.HTTPError as problem:
            if problem.code not in (404, 409):
                raise
            continue
        changed += 1
        print(f"{name}: taints {[each['key'] for each in taints]}", flush=True)
    return changed


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
        try:
            sweep(server, context, set(options.condition), options.taint)
        # The latter three: an answer that is no list of nodes, as a proxy on the way may give.
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
            print(f"sweep failed: {problem!r}", file=sys.stderr, flush=True)
            if options.once:
                return 1
        if options.once:
            return 0
        time.sleep(options.every)


if __name__ == "__main__":
    sys.exit(main())
