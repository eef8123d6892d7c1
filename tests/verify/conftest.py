"""What the tests of the verifier share: upstream CRDs, cases, small bodies."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from trainyard.verify import Schemas

SHARED = Path(__file__).parents[3] / "shared"


def upstream(*parts: str) -> Path:
    """A path of the folder of upstream data beside the project; the test is skipped where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"upstream data is not here: ../shared/{'/'.join(parts)}")
    return path


@pytest.fixture(scope="session")
def crds() -> list[dict[str, Any]]:
    """The upstream CRDs as released, of the kinds that have a committed schema."""
    folder = upstream("crds")
    derive = pytest.importorskip("trainyard.extensions.facts.derive_schemas")
    return [crd for place in derive.kinds_by_place() for crd in derive.load_crds(folder / place)]


@pytest.fixture(scope="session")
def full(crds: list[dict[str, Any]]) -> Schemas:
    """Schemas made of the upstream CRDs in memory."""
    return Schemas.from_crds(crds)


@pytest.fixture(scope="session")
def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(upstream("cases", "crd-cases.json").read_text())
    return found


NODE_POOL: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "gpu"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {
                    "group": "karpenter.k8s.aws",
                    "kind": "EC2NodeClass",
                    "name": "gpu",
                },
                "requirements": [
                    {
                        "key": "node.kubernetes.io/instance-type",
                        "operator": "In",
                        "values": ["p4d.24xlarge"],
                    }
                ],
            }
        }
    },
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "team-a"},
    "spec": {
        "restartPolicy": "Never",
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}],
        "containers": [
            {
                "name": "node",
                "image": "train:1",
                "ports": [{"containerPort": 29500}],
                "env": [{"name": "A", "value": "1"}],
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                "resources": {
                    "limits": {"nvidia.com/gpu": 8, "memory": "1Ti"},
                    "requests": {"nvidia.com/gpu": 8, "memory": "1Ti"},
                },
            }
        ],
    },
}
RUNTIME: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch"},
    "spec": {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {
                                "labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
                            },
                            "spec": {
                                "template": {
                                    "spec": {
                                        "containers": [{"name": "node", "image": "train:1"}],
                                        "volumes": [{"name": "shm", "emptyDir": {}}],
                                    }
                                }
                            },
                        },
                    }
                ]
            }
        },
    },
}
TRAIN_JOB: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {
        "name": "llama",
        "namespace": "team-a",
        "labels": {"kueue.x-k8s.io/queue-name": "research"},
    },
    "spec": {
        "runtimeRef": {"name": "torch"},
        "trainer": {
            "image": "train:1",
            "numNodes": 4,
            "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        },
        "runtimePatches": [
            {
                "manager": "trainyard.dev/compiler",
                "trainingRuntimeSpec": {
                    "template": {
                        "spec": {
                            "replicatedJobs": [
                                {
                                    "name": "node",
                                    "template": {
                                        "spec": {
                                            "template": {
                                                "spec": {
                                                    "nodeSelector": {"pool": "a100"},
                                                    "containers": [
                                                        {
                                                            "name": "node",
                                                            "volumeMounts": [
                                                                {
                                                                    "name": "shm",
                                                                    "mountPath": "/dev/shm",
                                                                }
                                                            ],
                                                        }
                                                    ],
                                                }
                                            }
                                        }
                                    },
                                }
                            ]
                        }
                    }
                },
            }
        ],
    },
}
CLUSTER_QUEUE: dict[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ClusterQueue",
    "metadata": {"name": "research"},
    "spec": {
        "namespaceSelector": {},
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "nvidia.com/gpu"],
                "flavors": [
                    {
                        "name": "a100",
                        "resources": [
                            {"name": "cpu", "nominalQuota": 384},
                            {"name": "nvidia.com/gpu", "nominalQuota": "32"},
                        ],
                    }
                ],
            }
        ],
    },
}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "smoke", "namespace": "team-a"},
    "spec": {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        }
    },
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "namespace": "team-a"},
    "spec": {
        "selector": {"matchLabels": {"app": "d"}},
        "template": {
            "metadata": {"labels": {"app": "d"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
}
KUSTOMIZATION: dict[str, Any] = {
    "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
    "kind": "Kustomization",
    "metadata": {"name": "queues", "namespace": "flux-system"},
    "spec": {
        "interval": "10m",
        "prune": True,
        "sourceRef": {"kind": "GitRepository", "name": "fleet"},
    },
}
HELM_RELEASE: dict[str, Any] = {
    "apiVersion": "helm.toolkit.fluxcd.io/v2",
    "kind": "HelmRelease",
    "metadata": {"name": "kueue", "namespace": "flux-system"},
    "spec": {"interval": "1h", "chartRef": {"kind": "OCIRepository", "name": "kueue"}},
}


def edited(body: dict[str, Any], *edits: tuple[str, Any]) -> dict[str, Any]:
    """A copy of a body with values set at slash paths (``spec/containers/0/name``); ``None`` removes."""
    out = copy.deepcopy(body)
    for path, value in edits:
        *parents, last = [
            int(key) if key.isdigit() else key.replace("|", "/") for key in path.split("/")
        ]
        here: Any = out
        for key in parents:
            here = here.setdefault(key, {}) if isinstance(here, dict) else here[key]
        if value is None:
            del here[last]
        else:
            here[last] = value
    return out
