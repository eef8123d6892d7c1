"""Keep new nodes free of jobs until they have passed a test.

Runs on every node of a pool, with nothing but Python. Karpenter gives new nodes a startup taint. `needed` says by a
file whether this node has it still; the test runs only then, since on a node that restarted jobs may be back. The pod
and its files outlive a restart of the node, and so `needed` removes the file too. `passed` takes the taint away and
waits: what comes before it in the pod has failed otherwise, and the node stays as it is.
"""

import argparse
import json
import os
import pathlib
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def in_cluster():
    """Address of the API server and a TLS context that trusts it."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    host = f"[{host}]" if ":" in host else host
    return f"https://{host}:{port}", ssl.create_default_context(cafile=f"{ACCOUNT}/ca.crt")


def call(server, context, method, path, body=None):
    """One request to the API server; JSON in, JSON out."""
    token = pathlib.Path(ACCOUNT, "token")
    headers = {"Accept": "application/json", "Content-Type": "application/merge-patch+json"}
    if token.exists():
        headers["Authorization"] = f"Bearer {token.read_text(encoding='utf-8').strip()}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return json.load(answer)


def has_taint(node, key):
    """Whether a node waits for its test."""
    return any(taint["key"] == key for taint in node["spec"].get("taints") or [])


def take_away(server, context, name, key):
    """Remove the taint; with the resourceVersion, one that somebody sets meanwhile is not lost."""
    while True:
        node = call(server, context, "GET", f"/api/v1/nodes/{name}")
        if not has_taint(node, key):
            return
        kept = [taint for taint in node["spec"]["taints"] if taint["key"] != key]
        version = node["metadata"]["resourceVersion"]
        patch = {"metadata": {"resourceVersion": version}, "spec": {"taints": kept}}
        try:
            call(server, context, "PATCH", f"/api/v1/nodes/{name}", patch)
        except urllib.error.HTTPError as problem:
            if problem.code != 409:
                raise
            time.sleep(1)


def main():
    """One of the two steps around the test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("needed", "passed"))
    parser.add_argument("--taint", required=True)
    parser.add_argument("--node", default=os.environ.get("NODE_NAME"))
    parser.add_argument("--file", default="/work/needed")
    parser.add_argument("--server", help="address of the API server, instead of the cluster's own")
    parser.add_argument("--once", action="store_true", help="end instead of waiting")
    options = parser.parse_args()
    server, context = (options.server, None) if options.server else in_cluster()
    if options.step == "needed":
        node = call(server, context, "GET", f"/api/v1/nodes/{options.node}")
        if has_taint(node, options.taint):
            pathlib.Path(options.file).touch()
            print(f"{options.node}: to be tested", flush=True)
        else:
            pathlib.Path(options.file).unlink(missing_ok=True)
        return 0
    if pathlib.Path(options.file).exists():
        take_away(server, context, options.node, options.taint)
        print(f"{options.node}: passed", flush=True)
    if not options.once:
        signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
