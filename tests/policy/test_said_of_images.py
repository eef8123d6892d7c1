"""What rules about images and checkpoints say, and where they say nothing, beside the examples of their pages."""

from __future__ import annotations

import json

import pytest

from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")

FSX = """storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9,
  mountName: abcdefgh, size: SIZE, version: "2.15"}}}]
"""
BUCKET = "storage: [{name: runs, s3: {existing: {bucket: team-runs}}}]\n"
MPI = "jobs: [{name: llama, terminationGracePeriod: 10m, launcher: {mpi: {}}, "
CPUS = (
    "nodePools: [{name: gpu, instanceTypes: [m7i.8xlarge]}]\n"
    "queues: [{name: research, quota: [{pool: gpu, nodes: 4}]}]\n"
)


def job(keys: str) -> str:
    """The job with further keys."""
    return f"jobs: [{{name: llama, {keys}}}]"


def command(*words: str) -> str:
    """The job with another command."""
    return job(f"command: {json.dumps(words)}")


def program(*lines: str) -> str:
    """A program in a ConfigMap."""
    text = "\n".join(f"    {line}" for line in lines)
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: code, namespace: team-a}}\ndata:\n  train.py: |\n{text}"


def by_class(parameters: str) -> str:
    """A job that saves to a volume of a StorageClass with these parameters; without them there is no class."""
    storage_class = (
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: lustre}\n"
        f"provisioner: fsx.csi.aws.com\nparameters: {{subnetId: subnet-0a1b2c3d4e5f60718, {parameters}}}"
    )
    claim = (
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: team-a}\n"
        "spec: {accessModes: [ReadWriteMany], storageClassName: lustre, resources: {requests: {storage: 1200Gi}}}"
    )
    pod = (
        "{containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}], "
        "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}"
    )
    jobs = f"[{{name: node, template: {{spec: {{template: {{spec: {pod}}}}}}}}}]"
    training = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: llama, namespace: team-a}\n"
        "spec: {trainer: {env: [{name: CHECKPOINT_DIR, value: /data/llama}]}, runtimePatches: [{manager: a.b/c, "
        f"trainingRuntimeSpec: {{template: {{spec: {{replicatedJobs: {jobs}}}}}}}}}]}}"
    )
    return "\n---\n".join([storage_class, claim, training])


def pod(keys: str) -> str:
    """A pod by itself."""
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: smi, namespace: team-a}\n"
        f"spec: {{containers: [{{name: smi, {keys}}}]}}"
    )


SAID: dict[str, tuple[str, str, list[str]]] = {
    "checkpoints beside a bucket, in a folder of no volume": (
        "RUN040",
        BUCKET + job("mounts: [{storage: runs, path: /runs}], checkpoint: {path: /other/llama}"),
        [],
    ),
    "checkpoints on a file system that is mounted below a bucket": (
        "RUN040",
        FSX.replace("SIZE", "4800Gi").strip()[:-1]
        + ", {name: runs, s3: {existing: {bucket: team-runs}}}]\n"
        + job(
            "mounts: [{storage: runs, path: /runs}, {storage: data, path: /runs/fast}], "
            "command: [torchrun, train.py, --output_dir=/runs/fast/llama]"
        ),
        [],
    ),
    "a class of persistent file systems": (
        "RUN055",
        by_class("deploymentType: PERSISTENT_2, perUnitStorageThroughput: '125'"),
        [],
    ),
    "mpirun that is told by a variable to wait": (
        "RUN031",
        MPI
        + "command: [mpirun, python, train.py], env: {OMPI_MCA_odls_base_sigkill_timeout: '590'}}]",
        [],
    ),
    "mpirun that is told by an option to wait": (
        "RUN031",
        MPI + "command: [mpirun, --mca, odls_base_sigkill_timeout, '590', python, train.py]}]",
        [],
    ),
    "a run that resumes only if something asks for it": (
        "RUN075",
        program("if args.resume:", "    trainer.train(resume_from_checkpoint=True)"),
        [],
    ),
    "a run that resumes from what it is given": (
        "RUN075",
        program("trainer.train(resume_from_checkpoint=args.resume)"),
        [],
    ),
    "a model that is not sharded, saved by one rank": (
        "RUN086",
        program("model = DDP(model)", "if rank == 0:", "    torch.save(model.state_dict(), path)"),
        [],
    ),
    "a sharded model that every rank saves": (
        "RUN086",
        program("model = FSDP(model)", "torch.save(model.state_dict(), f'{path}/{rank}')"),
        [],
    ),
    "PyTorch that pip does not install": (
        "RUN072",
        job(
            'image: "nvcr.io/nvidia/pytorch:25.06-py3", '
            'command: [bash, -c, "git clone https://github.com/pytorch/pytorch torch; exec torchrun train.py"]'
        ),
        [],
    ),
    "a clone of nothing": (
        "RUN070",
        command("bash", "-c", "git clone --depth 1; exec torchrun train.py"),
        [],
    ),
    "a clone without a scheme, behind an option": (
        "RUN070",
        command("bash", "-c", "git clone --quiet github.com/org/train; exec torchrun train.py"),
        ["job `llama` clones `github.com/org/train`, which git takes for a folder"],
    ),
    "checkpoints of a job on CPUs": (
        "RUN053",
        CPUS
        + FSX.replace("SIZE", "12000Gi").replace('"2.15"', '"2.15", throughputPerTiB: 125')
        + job(
            "mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 12h}, "
            "torchVersion: '2.12', model: {parameters: 1e9, sharding: full}"
        ),
        [],
    ),
    "an image for Neuron by its name alone": (
        "RUN037",
        job("image: 'ghcr.io/team/train-neuronx:1.0'"),
        [
            "image `ghcr.io/team/train-neuronx:1.0` of job `llama` is for Neuron devices, and the job asks for GPUs"
        ],
    ),
    "an image for GPUs by its name alone, on Neuron": (
        "RUN037",
        "nodePools: [{name: gpu, instanceTypes: [trn1.32xlarge]}]\n"
        + job("image: 'ghcr.io/team/train:1.0-cu126'"),
        [
            "image `ghcr.io/team/train:1.0-cu126` of job `llama` is for CPUs or GPUs, and the job asks for "
            "Neuron devices"
        ],
    ),
    "the name of a variable in capitals, for an image": ("RUN077", pod("image: IMAGE_OF_TEAM"), []),
    "a place for a registry, in an image": ("RUN077", pod('image: "<REGISTRY>/train"'), []),
    "an image of NVIDIA before all that are known": (
        "RUN076",
        "# params: {months: 600}\n" + job('image: "nvcr.io/nvidia/pytorch:20.02-py3"'),
        [
            "image `nvcr.io/nvidia/pytorch:20.02-py3` of job `llama` is older than CUDA 11.0, which `A100` needs"
        ],
    ),
    "an image of NVIDIA before the one that is needed": (
        "RUN076",
        "# params: {months: 600}\nnodePools: [{name: gpu, instanceTypes: [p5.48xlarge]}]\n"
        + job('image: "nvcr.io/nvidia/pytorch:22.08-py3"'),
        [
            "image `nvcr.io/nvidia/pytorch:22.08-py3` of job `llama` is older than CUDA 11.8, which `H100` needs"
        ],
    ),
    "a plugin of NCCL that the job names": (
        "RUN120",
        job(
            'image: "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime", env: {NCCL_NET_PLUGIN: aws-ofi}'
        ),
        [],
    ),
}
HELPS = {
    "a file system too small for two checkpoints": (
        "RUN054",
        FSX.replace("SIZE", "1200Gi")
        + job(
            "mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama}, "
            "torchVersion: '2.12', model: {parameters: 60e9, sharding: full}"
        ),
        "take a larger file system",
    )
}


@pytest.mark.parametrize("title", SAID)
def test_it_is_said(title: str) -> None:
    code, text, messages = SAID[title]
    assert said(code, text) == messages


@pytest.mark.parametrize("title", HELPS)
def test_what_helps(title: str) -> None:
    code, text, help = HELPS[title]
    assert [each.help for each in found(code, text)] == [help]
