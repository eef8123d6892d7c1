"""Values that have the right type and cannot work, or lose data: each is found, by the code that is about it.

Examples of rules hold one value each; here they stand in a whole spec, through every pass.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import data_of, dumped
from trainyard.run.driver import check
from trainyard.run.outcome import Options

pytestmark = pytest.mark.slow

TODAY = date(2026, 11, 23)
BASE = """
apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: lab}
spec:
  account: "111122223333"
  region: us-west-2
  nodePools:
  - {name: h100, instanceTypes: [p5.48xlarge], zones: [us-west-2b], nodes: {max: 4}}
  namespaces: [{name: training}]
  storage:
  - {name: scratch, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250}}}
  jobs:
  - name: train
    nodes: 4
    image: public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0
    command: [torchrun, /app/train.py]
    timeout: 20h
    mounts: [{storage: scratch, path: /data}]
    checkpoint: {path: /data/train, every: 30m, signalFile: /tmp/save-now}
"""
BLOCK = (
    "{starts: 2026-12-01T11:30:00Z, ends: %s, "
    "reservations: [{id: cr-0a1b2c3d4e5f60718, nodes: %s}, {id: cr-0a1b2c3d4e5f60719, nodes: %s}]}"
)
LINK = (
    "{storage: [{name: scratch, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250, dataRepositories: ["
    "{path: /tokens, %s}]}}}]}"
)
BUCKET = (
    "{storage: [{name: scratch, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250}}}, "
    "{name: data, s3: {create: {bucket: data-111122223333, lifecycle: {%s}}}}]}"
)
IMAGE = (
    "{flux: {url: 'https://github.com/example/clusters'}, images: [{name: train, "
    f'base: "public.ecr.aws/deep-learning-containers/pytorch-training@sha256:{"1b" * 32}", '
    "%s}]}"
)
JOB = [
    ("SPC005", "checkpoint: {path: /data/../../tmp}"),
    ("RES242", "checkpoint: {path: /data/train, signalFile: /data/save-now}"),
    ("RES243", "terminationGracePeriod: 1s"),
    ("RES029", "timeout: 1m"),
    ("RUN124", 'env: {NCCL_P2P_DISABLE: "1"}'),
    ("RUN124", 'env: {CUDA_LAUNCH_BLOCKING: "1"}'),
    ("RUN124", "env: {NCCL_NET_GDR_LEVEL: LOC}"),
    ("RUN125", 'env: {TORCH_NCCL_ASYNC_ERROR_HANDLING: "0"}'),
    ("RUN126", "env: {PATH: /app}"),
    ("RUN134", 'env: {WORLD_SIZE: "1"}'),
    ("RUN136", "env: {PYTHONHASHSEED: abc}"),
    ("RUN127", 'command: [bash, -c, "torchrun /app/train.py &"]'),
    ("RUN127", 'command: [bash, -c, "torchrun /app/train.py || true"]'),
    ("RUN127", 'command: [bash, -c, "torchrun /app/train.py | tee /data/log"]'),
    ("RUN128", "command: [torchrun]"),
    ("RUN128", "command: [python]"),
    ("RUN140", "command: [srun, torchrun, /app/train.py]"),
    ("RUN141", "command: [torchrun, /app/train.ipynb]"),
    ("RUN141", "command: [torchrun, ~/train.py]"),
    ("RUN142", "command: [torchrun, /app/train.py, --device=cpu]"),
    ("RUN143", "command: [torchrun, /app/train.py, --max-steps=0]"),
    ("RUN144", 'image: "localhost:5000/train:1.0"'),
    ("RUN145", 'image: "alpine:3.20"'),
    ("RUN146", "maxRestarts: 1000"),
    ("RES198", "deepspeed: {microBatchSize: 1, config: {zero_optimisation: {stage: 3}}}"),
    ("RUN131", 'initContainers: [{name: w, image: "busybox:1.36", command: [sleep, infinity]}]'),
    ("SPC005", f'image: "registry.test/train@sha256:{"0" * 64}"'),
    ("SPC005", "files: {/bin/bash: text}"),
    ("SPC005", "files: {/etc/resolv.conf: text}"),
    ("RUN133", "volumes: [{name: v, path: /usr/local/cuda, emptyDir: {sizeLimit: 10Gi}}]"),
    ("RUN133", "volumes: [{name: v, path: /opt/amazon, emptyDir: {sizeLimit: 10Gi}}]"),
    ("SPC005", "mounts: [{storage: scratch, path: /var/run/secrets}]"),
    ("RUN150", "timeout: 87600h"),
    ("SPC005", "terminationGracePeriod: 87600h"),
    ("SPC005", "workingDir: /proc"),
    ("SPC005", "workingDir: /dev/null"),
    ("SPC005", "checkpoint: {path: /data/train, signalFile: /dev/null}"),
    ("SPC005", "checkpoint: {path: /data/train, signalFile: /tmp}"),
    ("SPC005", "checkpoint: {path: /data/train, signalFile: /etc/passwd}"),
    ("SPC005", "model: {parameters: 8}"),
    ("RES284", 'torchVersion: "99.0"'),
    ("RES284", 'torchVersion: "0.1"'),
    ("RES284", 'torchVersion: "2.12"'),
    ("RUN151", 'image: "111122223333.dkr.ecr.eu-west-1.amazonaws.com/train:1.0"'),
    ("RUN145", 'image: "python:3.12"'),
    ("RUN124", "env: {NCCL_DEBUG: TRACE}"),
    ("RUN124", 'env: {NCCL_MAX_NCHANNELS: "1"}'),
    ("RUN124", 'env: {PYTORCH_NO_CUDA_MEMORY_CACHING: "1"}'),
    ("EFA035", "env: {LD_LIBRARY_PATH: /app/lib}"),
    ("RUN020", "volumes: [{name: v, path: /data/train, emptyDir: {sizeLimit: 10Gi}}]"),
    ("RUN152", "volumes: [{name: v, path: /app, emptyDir: {sizeLimit: 10Gi}}]"),
    ("RUN153", 'command: [bash, -c, "rm -rf /data/*; torchrun /app/train.py"]'),
    ("RUN153", "initContainers: [{name: w, command: [rm, -rf, /data/train]}]"),
    ("RUN131", 'initContainers: [{name: w, command: [sleep, "36000"]}]'),
    ("RUN131", "initContainers: [{name: w, command: [tail, -f, /var/log/x]}]"),
    ("RUN130", f"initContainers: [{{name: w, command: [echo, {'x' * 131_072}]}}]"),
    ("SPC005", "initializer: {storage: scratch, dataset: {storageUri: 's3://x'}}"),
    ("SPC004", "launcher: {ncclTest: {busBandwidth: 100000}}"),
]
POOL = [
    ("LIM039", "{localStorage: none, rootVolume: {size: 21Gi}}"),
    (
        "RES244",
        f"{{nodes: {{max: 8}}, capacity: {{block: {BLOCK % ('2026-12-08T11:30:00Z', 5, 3)}}}}}",
    ),
    (
        "RES244",
        f"{{nodes: {{max: 4}}, capacity: {{block: {BLOCK % ('2026-12-18T11:30:00Z', 2, 2)}}}}}",
    ),
    ("RES248", '{burnIn: {image: "alpine:3.20"}}'),
    ("RES248", '{burnIn: {diagnostics: {image: "alpine:3.20"}}}'),
    ("RES248", '{burnIn: {image: "tensorflow/tensorflow:2.19.0"}}'),
    ("RES248", '{burnIn: {image: "pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime"}}'),
    ("SPC005", "{consolidateAfter: 87600h}"),
    ("SPC005", "{meanTimeBetweenFailures: 1m}"),
    (
        "PLC045",
        f"{{nodes: {{max: 4}}, capacity: {{block: {BLOCK % ('2036-12-08T11:30:00Z', 2, 2)}}}}}".replace(
            "starts: 2026", "starts: 2036"
        ),
    ),
    (
        "SPC004",
        "{nodes: 4, managedNodeGroup: {nodeRepairConfig: {nodeRepairConfigOverrides: [{nodeMonitoringCondition: "
        "KernelReady, nodeUnhealthyReason: x, minRepairWaitTimeMins: 525600, repairAction: Reboot}]}}}",
    ),
]
STORED = (
    "existing: {name: team/hf, kmsKey: "
    "'arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9'}"
)
SPEC = [
    ("HLT057", "{platform: {eks: {ami: al2023@v0}}}"),
    ("QUE030", "{kueue: {waitForPodsReady: {recoveryTimeout: 87600h}}}"),
    ("SPC005", '{flux: {url: "https://localhost/clusters"}}'),
    ("SPC005", '{flux: {url: "https://github.com/example/clusters/tree/main"}}'),
    ("SPC005", '{flux: {url: "ssh://git@github.com:example/clusters"}}'),
    ("SPC005", '{flux: {url: "https://github.com/example/clusters", branch: HEAD}}'),
    ("RES280", "{bootstrap: {tool: terraform, state: {bucket: tf-1111, region: cn-north-1}}}"),
    (
        "RES121",
        f"{{secrets: [{{name: hf, namespaces: [training], secretsManager: {{{STORED}, keys: {{a: b}}}}}}]}}",
    ),
    (
        "SPC005",
        "{secrets: [{name: hf, namespaces: [training], secretsManager: "
        "{existing: {name: team/hf}, keys: {a: b}, refresh: 1s}}]}",
    ),
    (
        "RES286",
        "{platform: {eks: {addons: {external-dns: {version: v0.19.0-eksbuild.1, role: {namespace: external-dns, "
        'serviceAccount: external-dns, policies: ["arn:aws:iam::999922223333:policy/dns"]}}}}}}',
    ),
    ("SPC005", LINK % "s3: 's3://x..y/a'"),
    ("RES125", LINK % "s3: 's3://data-1111/a', import: [], export: [], importOnCreate: false"),
    ("RES282", BUCKET % "transitions: [{days: 0, to: GLACIER}]"),
    ("SPC004", BUCKET % "noncurrentDays: 2147483648"),
    (
        "SPC005",
        "{storage: [{name: scratch, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250}}}, "
        "{name: disk, ebs: {existing: {id: vol-0a1b2c3d4e5f60718, zone: us-west-2b, size: 1Ei}}}]}",
    ),
    ("SPC005", IMAGE % "sources: [{from: train, to: /proc/x}], build: {codeBuild: {}}"),
    ("SPC005", IMAGE % "build: {githubActions: {runner: macos-14}}"),
    ("RES247", IMAGE % "contents: {efaInstaller: 99.0.0}, build: {codeBuild: {}}"),
    (
        "SPC004",
        "{network: {existing: {vpc: vpc-0a1b2c3d4e5f60718, subnets: ["
        "{id: subnet-0a1b2c3d4e5f60718, zone: us-west-2a, cidr: 10.0.0.0/20, freeAddresses: 0},"
        "{id: subnet-0a1b2c3d4e5f60719, zone: us-west-2b, cidr: 10.0.16.0/20}]}}}",
    ),
    ("HLT057", "{platform: {eks: {ami: al2023@v20991231}}}"),
    ("HLT057", "{platform: {eks: {ami: al2023@v20261332}}}"),
    ("RUN137", "{components: {kueue: {values: {controllerManager: {replicas: 0}}}}}"),
    ("RUN137", "{components: {karpenter: {values: {replicas: 0}}}}"),
    ("RUN137", "{components: {trainer: {values: {manager: {replicas: 0}}}}}"),
    ("RUN137", "{platform: {eks: {addons: {coredns: {values: {replicaCount: 0}}}}}}"),
    ("RUN135", "{components: {karpenter: {values: {settings: {batchMaxDuratoin: 20s}}}}}"),
    ("RUN135", "{components: {nvidia-device-plugin: {values: {tolerationz: []}}}}"),
    ("QUE024", "{kueue: {waitForPodsReady: {recoveryTimeout: 1s}}}"),
    ("QUE025", "{kueue: {waitForPodsReady: {timeout: 240h}}}"),
    ("ACC016", '{flux: {url: "http://git.example.com/platform/clusters"}}'),
    ("LIM010", "{namespaces: [{name: training, quota: {pods: 0}}]}"),
    (
        "SPC005",
        "{network: {existing: {vpc: vpc-0a1b2c3d4e5f60718, subnets: ["
        "{id: subnet-0a1b2c3d4e5f60718, zone: us-west-2a, cidr: 10.0.0.0/20},"
        "{id: subnet-0a1b2c3d4e5f60719, zone: us-west-2b, cidr: 10.0.8.0/21}]}}}",
    ),
    (
        "RES246",
        "{imageCaches: [{registry: docker.io, secret: "
        '"arn:aws:secretsmanager:us-east-1:111122223333:secret:ecr-pullthroughcache/docker-hub-AbCdEf"}]}',
    ),
    (
        "RES247",
        "{images: [{name: train, base: "
        f'"public.ecr.aws/deep-learning-containers/pytorch-training@sha256:{"1" * 64}",'
        f' efaInstaller: {{version: 99.0.0, sha256: "{"2" * 64}"}}, build: {{codeBuild: {{}}}}}}]}}',
    ),
    (
        "RES245",
        "{bootstrap: {tool: terraform, state: {bucket: lab-models}}, storage: ["
        "{name: scratch, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250}}},"
        "{name: models, s3: {create: {bucket: lab-models}}}]}",
    ),
    (
        "RUN139",
        "{storage: [{name: scratch, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250, dataRepositories: ["
        '{path: /train, s3: "s3://models-111122223333/train", import: [NEW, DELETED]}]}}}]}',
    ),
]


def codes(tmp_path: Path, spec: dict[str, Any]) -> set[str]:
    (tmp_path / "spec.yaml").write_text(dumped(spec))
    outcome = check([tmp_path / "spec.yaml"], Options(today=TODAY))
    return {each.code for each in outcome.all()}


def base() -> dict[str, Any]:
    spec: dict[str, Any] = data_of(BASE)
    return spec


def test_the_base_is_clean(tmp_path: Path) -> None:
    assert codes(tmp_path, base()) == set()


@pytest.mark.parametrize(("code", "part"), JOB)
def test_of_a_job(code: str, part: str, tmp_path: Path) -> None:
    spec = base()
    spec["spec"]["jobs"][0] |= data_of(part)
    assert code in codes(tmp_path, spec)


@pytest.mark.parametrize(("code", "part"), POOL)
def test_of_a_pool(code: str, part: str, tmp_path: Path) -> None:
    spec = base()
    spec["spec"]["nodePools"][0] |= data_of(part)
    assert code in codes(tmp_path, spec)


@pytest.mark.parametrize(("code", "part"), SPEC)
def test_of_a_cluster(code: str, part: str, tmp_path: Path) -> None:
    spec = base()
    spec["spec"] |= data_of(part)
    assert code in codes(tmp_path, spec)


def test_two_jobs_that_save_to_one_folder(tmp_path: Path) -> None:
    spec = base()
    spec["spec"]["jobs"].append({**spec["spec"]["jobs"][0], "name": "other"})
    assert "RUN132" in codes(tmp_path, spec)


def test_one_word_of_many_kilobytes(tmp_path: Path) -> None:
    spec = base()
    spec["spec"]["jobs"][0]["command"] = ["torchrun", "train.py", "x" * 131_072]
    assert "RUN130" in codes(tmp_path, spec)


def test_a_cache_that_is_larger_than_the_disks(tmp_path: Path) -> None:
    spec = base()
    spec["spec"]["storage"].append(
        {
            "name": "data",
            "s3": {"existing": {"bucket": "data-111122223333"}, "cache": {"size": "40Ti"}},
        }
    )
    spec["spec"]["jobs"][0]["mounts"].append({"storage": "data", "path": "/bucket"})
    assert "RES048" in codes(tmp_path, spec)


def test_a_checkpoint_folder_in_that_of_another_job(tmp_path: Path) -> None:
    spec = base()
    inner = {"path": "/data/train/small", "every": "30m", "signalFile": "/tmp/save-now"}
    spec["spec"]["jobs"].append({**spec["spec"]["jobs"][0], "name": "other", "checkpoint": inner})
    assert "RUN132" in codes(tmp_path, spec)


def test_an_excluded_node_of_another_region(tmp_path: Path) -> None:
    spec = base()
    spec["spec"]["nodePools"][0]["nodes"] = 5
    name = "ip-10-0-12-34.%s.compute.internal"
    spec["spec"]["jobs"][0]["excludeNodes"] = [name % "us-west-2"]
    assert codes(tmp_path, spec) == set()
    spec["spec"]["jobs"][0]["excludeNodes"] = [name % "eu-west-1"]
    assert codes(tmp_path, spec) == {"RES285"}


@pytest.mark.parametrize(
    "part",
    [
        '{burnIn: {diagnostics: {image: "pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime"}}}',
        '{burnIn: {image: "registry.test/tests:1.0"}}',
    ],
)
def test_an_image_that_can_test_nodes(part: str, tmp_path: Path) -> None:
    """DCGM's diagnostics use no EFA; of an image that nobody knows nothing is said."""
    spec = base()
    spec["spec"]["nodePools"][0] |= data_of(part)
    assert "RES248" not in codes(tmp_path, spec)


def test_a_zero_byte_in_the_name_of_a_cluster_is_found_before_a_path_is_made_of_it(
    tmp_path: Path,
) -> None:
    """The lock of an image lies in a folder of the cluster's name, and no path has such a byte."""
    spec = base()
    spec["spec"] |= data_of(IMAGE % "build: {githubActions: {}}")
    (tmp_path / "spec.yaml").write_text(dumped(spec).replace("name: lab", 'name: "a\\0b"'))
    outcome = check([tmp_path / "spec.yaml"], Options(today=TODAY))
    assert "SPC005" in {each.code for each in outcome.all()}
