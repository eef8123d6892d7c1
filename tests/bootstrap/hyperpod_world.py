"""The account and the cluster with nodes of SageMaker HyperPod."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from world import World, refused

SCHEDULABLE = "sagemaker.amazonaws.com/node-health-status=Schedulable"


class HyperPodWorld(World):
    """SageMaker keeps one cluster by its name, with what governs it."""

    def __init__(self, root: Path, cluster: str, region: str) -> None:
        super().__init__(root, cluster, region)
        self.request: dict[str, Any] = {}
        self.policy: dict[str, Any] = {}
        self.quotas: dict[str, dict[str, Any]] = {}
        self.addons: set[str] = set()

    def got(self, words: list[str], given: dict[str, str]) -> str:
        if words[1] == "nodes" and given.get("selector") == SCHEDULABLE:
            count = sum(each["InstanceCount"] for each in self.request.get("InstanceGroups", []))
            return "".join(f"hyperpod-i-{index} Ready <none> 1d\n" for index in range(count))
        return super().got(words, given)

    def aws_sagemaker_describe_cluster(self, given: dict[str, str]) -> Any:
        if not self.request:
            raise refused("ResourceNotFound", "no such cluster")
        arn = f"arn:aws:sagemaker:{self.region}:{self.account}:cluster/abcdefghijkl"
        groups = self.request.get("InstanceGroups", [])
        return {"ClusterStatus": "InService", "ClusterArn": arn, "InstanceGroups": groups}

    def aws_sagemaker_create_cluster(self, given: dict[str, str]) -> Any:
        assert not self.request, "ResourceInUse"
        assert self.is_ready("helmreleases.helm.toolkit.fluxcd.io/dependencies"), "no agents"
        self.request = request_of(given)

    def aws_sagemaker_update_cluster(self, given: dict[str, str]) -> Any:
        assert self.request, "ResourceNotFound"
        self.request |= request_of(given)

    def aws_sagemaker_delete_cluster(self, given: dict[str, str]) -> Any:
        self.request = {}

    def aws_sagemaker_list_cluster_scheduler_configs(self, given: dict[str, str]) -> Any:
        known = [{"ClusterSchedulerConfigId": "c1", "ClusterSchedulerConfigVersion": 1}]
        return {"ClusterSchedulerConfigSummaries": known if self.policy else []}

    def aws_sagemaker_create_cluster_scheduler_config(self, given: dict[str, str]) -> Any:
        self.policy = request_of(given)

    def aws_sagemaker_update_cluster_scheduler_config(self, given: dict[str, str]) -> Any:
        self.policy |= request_of(given)

    def aws_sagemaker_list_compute_quotas(self, given: dict[str, str]) -> Any:
        found = [
            {"Name": name, "ComputeQuotaId": f"q-{name}", "ComputeQuotaVersion": 1}
            for name in sorted(self.quotas)
        ]
        return {"ComputeQuotaSummaries": found}

    def aws_sagemaker_create_compute_quota(self, given: dict[str, str]) -> Any:
        request = request_of(given)
        self.quotas[request["Name"]] = request

    def aws_sagemaker_update_compute_quota(self, given: dict[str, str]) -> Any:
        self.quotas[given["compute-quota-id"].removeprefix("q-")] |= request_of(given)

    def aws_sagemaker_add_tags(self, given: dict[str, str]) -> Any:
        return None

    def aws_eks_describe_addon(self, given: dict[str, str]) -> Any:
        if given["addon-name"] not in self.addons:
            raise refused("ResourceNotFoundException", "no such add-on")
        return {"addon": {"status": "ACTIVE"}}

    def aws_eks_create_addon(self, given: dict[str, str]) -> Any:
        self.addons.add(given["addon-name"])


def request_of(given: dict[str, str]) -> dict[str, Any]:
    """A request in an argument, or in a file."""
    text = given["cli-input-json"]
    if text.startswith("file://"):
        text = Path(text.removeprefix("file://")).read_text()
    request: dict[str, Any] = json.loads(text)
    return request
