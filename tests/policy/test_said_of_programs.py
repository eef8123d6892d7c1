"""What rules about commands and their options say, and where they say nothing, beside the examples of their pages."""

from __future__ import annotations

import json

import pytest
from trainyard.language.diagnostics import Severity

from tests.policy.harness import findings_for
from tests.policy.manifests import POOL, pods, required
from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")


def job(keys: str) -> str:
    """The job with further keys."""
    return f"jobs: [{{name: llama, {keys}}}]"


def command(*words: str) -> str:
    """The job with another command."""
    return job(f"command: {json.dumps(words)}")


def pod(keys: str) -> str:
    """A pod by itself."""
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: smi, namespace: team-a}\n"
        f"spec: {{containers: [{{name: smi, {keys}}}]}}"
    )


def pytorch(words: str, annotations: str = "") -> str:
    """A job of two pods without Trainer, on HyperPod, with this command."""
    asked = (
        "{cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}"
    )
    return f"""apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: bert, namespace: kubeflow, annotations: {{{annotations}}}}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          nodeSelector: {{sagemaker.amazonaws.com/node-health-status: Schedulable}}
          containers: [{{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: {words},
            resources: {{requests: {asked}, limits: {asked}}}}}]"""


def deepspeed(configuration: str, *options: str, path: str = "/z.json") -> str:
    """A job of 32 ranks with a configuration of DeepSpeed."""
    words = json.dumps(["torchrun", "train.py", f"--deepspeed={path}", *options])
    return job(f"command: {words}, files: {{{path}: '{configuration}'}}")


FP = '\'{"fp16": {"enabled": true}, "bf16": {"enabled": true}}\''


def mounted(mount: str, text: str) -> str:
    """A Job that reads a configuration of DeepSpeed from a ConfigMap, which it mounts."""
    return f"""apiVersion: v1
kind: ConfigMap
metadata: {{name: zero, namespace: team-a}}
data: {{zero.json: {text}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: zero, namespace: team-a}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: train
          image: registry.example/train:1.0
          command: [torchrun, train.py, --deepspeed=/etc/zero.json]
          volumeMounts: [{{name: zero, {mount}}}]
          resources: {{limits: {{nvidia.com/gpu: 8, cpu: 90, memory: 900Gi}}}}
      volumes: [{{name: zero, configMap: {{name: zero}}}}]"""


def mpi_job(keys: str) -> str:
    """An MPIJob that starts 32 ranks on two workers."""
    return f"""apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: ring, namespace: team-a}}
spec:
  {keys.replace(", ", chr(10) + "  ")}
  mpiReplicaSpecs:
    Launcher: {{template: {{spec: {{containers: [{{name: l, image: "r:1", command: [mpirun, -np, "32", ring]}}]}}}}}}
    Worker: {{replicas: 2, template: {{spec: {{containers: [{{name: w, image: "r:1"}}]}}}}}}"""


def own_runtime(*others: str) -> str:
    """A job in `team-a` with a runtime in `team-b`."""
    runtime = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\n"
        "metadata: {name: own, namespace: team-b}\nspec: {mlPolicy: {numNodes: 1, torch: {}}}"
    )
    job = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
        "spec: {runtimeRef: {name: own, kind: TrainingRuntime}}"
    )
    return "\n---\n".join([runtime, job, *others])


def neuron(policy: str, keys: str = "") -> str:
    """A job on Neuron devices with a runtime of this policy."""
    return f"""apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
spec: {{mlPolicy: {{torch: null, {policy}: {{}}}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec: {{trainer: {{numProcPerNode: null{keys}, resourcesPerNode: {{limits: {{aws.amazon.com/neuron: 16}}}}}}}}"""


CPUS = (
    "nodePools: [{name: gpu, instanceTypes: [m7i.8xlarge]}]\n"
    "queues: [{name: research, quota: [{pool: gpu, nodes: 4}]}]\n"
)
NO_POLICY = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nspec: {mlPolicy: {torch: null}}"
MEGATRON = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {trainer: {numProcPerNode: PROCESSES, "
    "command: [torchrun, train.py, --tensor-model-parallel-size=3]}}"
)
NO_DEVICES = (
    "{nvidia.com/gpu: null, vpc.amazonaws.com/efa: null, hugepages-2Mi: null, cpu: 8, memory: 8Gi}"
)
ON_CPUS = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {trainer: {numProcPerNode: auto, command: "
    "[torchrun, train.py, --tensor-model-parallel-size=1, --micro-batch-size=2, --global-batch-size=129], "
    f"resourcesPerNode: {{requests: {NO_DEVICES}, limits: {NO_DEVICES}}}}}}}"
)
PET = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
    "spec: {trainer: {env: [{name: PET_NNODES, value: '4'}]}}"
)
SAID: dict[str, tuple[str, str, list[str]]] = {
    "a variable of a length that only its letters could make too long": (
        "RUN130",
        "# params: {bytes: 120}\n" + job(f"env: {{CONFIG: {'a' * 60}}}"),
        [],
    ),
    "a configuration of DeepSpeed that is in no JSON": (
        "RUN066",
        deepspeed("{", path="/z.yaml"),
        [],
    ),
    "a configuration of DeepSpeed that is no mapping": ("RUN066", deepspeed("[16]"), []),
    "a configuration of DeepSpeed in a ConfigMap, by a path below it": (
        "RUN066",
        mounted("mountPath: /etc/zero.json, subPath: zero.json", FP),
        ["the configuration of DeepSpeed of job `zero` has fp16 and bf16 enabled"],
    ),
    "a configuration of DeepSpeed beside the one in a ConfigMap": (
        "RUN066",
        mounted("mountPath: /etc/other.json, subPath: zero.json", FP),
        [],
    ),
    "a configuration of DeepSpeed in a ConfigMap that is elsewhere": (
        "RUN066",
        mounted("mountPath: /etc/", FP).replace("{name: zero, namespace: team-a}", "{name: a}", 1),
        [],
    ),
    "a configuration of DeepSpeed that is no text": (
        "RUN066",
        mounted("mountPath: /etc/", "1"),
        [],
    ),
    "a configuration of DeepSpeed of a job whose pods are elsewhere": (
        "RUN066",
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {runtimeRef: {name: elsewhere}, "
        "trainer: {command: [torchrun, train.py, --deepspeed=/etc/zero.json]}}",
        [],
    ),
    "a model that is divided over ranks by an option": (
        "RUN066",
        deepspeed(
            '{"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1}',
            "--tensor-model-parallel-size=4",
        ),
        [],
    ),
    "a batch alone": ("RUN066", deepspeed('{"train_batch_size": 8}'), []),
    "a batch with samples of a GPU": (
        "RUN066",
        deepspeed('{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 2}'),
        [
            "the configuration of DeepSpeed of job `llama` has a train_batch_size of 100, with 32 ranks, "
            "train_micro_batch_size_per_gpu 2"
        ],
    ),
    "keys of DeepSpeed that are like none": ("RUN138", deepspeed('{"of_our_team": 1}'), []),
    "a configuration of DeepSpeed that is a list": (
        "RUN138",
        deepspeed('["zero_optimisation"]'),
        [],
    ),
    "a fault that ends with its own status": (
        "RUN127",
        command("bash", "-c", "torchrun train.py || exit 3"),
        [],
    ),
    "a fault that ends well": (
        "RUN127",
        command("bash", "-c", "torchrun train.py || exit 0"),
        ["job `llama` counts as done when `torchrun` fails: `|| exit 0` follows"],
    ),
    "another MPI, whose slots are not those of Open MPI": (
        "RUN176",
        mpi_job("slotsPerWorker: 8, mpiImplementation: Intel"),
        [],
    ),
    "slots that Flux fills in": ("RUN176", mpi_job("slotsPerWorker: '${SLOTS}'"), []),
    "slots that are given": (
        "RUN176",
        mpi_job("slotsPerWorker: 8"),
        ["job `ring` starts 32 ranks, and its workers have 16 slots"],
    ),
    "a runtime of a namespace that has the queue of the job, too": (
        "RUN023",
        own_runtime(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
            "metadata: {name: research, namespace: team-b}"
        ),
        [],
    ),
    "a runtime of another namespace": (
        "RUN023",
        own_runtime(),
        [
            "job `llama` refers to TrainingRuntime `own`, and that is a TrainingRuntime in namespace `team-b`"
        ],
    ),
    "JAX on Neuron, which has one process a node": ("RUN012", neuron("jax"), []),
    "PyTorch on Neuron": (
        "RUN012",
        neuron("torch"),
        ["job `llama` asks for Neuron devices and does not say `numProcPerNode`"],
    ),
    "as many processes on Neuron as Flux says": (
        "RUN012",
        neuron("torch", ", numProcPerNode: '${CORES}'"),
        [],
    ),
    "a range of nodes of which both ends are those of the job": (
        "RUN010",
        command("torchrun", "--nnodes=4:4", "train.py"),
        [],
    ),
    "a configuration of accelerate": (
        "RUN121",
        command("accelerate", "launch", "--config_file=a.yaml", "--num_processes=4", "train.py"),
        [],
    ),
    "nodes that no option of Lightning says": (
        "RUN121",
        command("python", "main.py", "fit", "--config=trainer.num_nodes.yaml"),
        [],
    ),
    "a rate that is no number": (
        "RUN143",
        command("torchrun", "train.py", "--learning-rate=cosine"),
        [],
    ),
    "a shell behind the program": (
        "RUN123",
        command("torchrun", "--no-python", "bash", "-c", "--lr 3e-4"),
        [],
    ),
    "degrees of a job on CPUs": (
        "RUN082",
        CPUS
        + command("torchrun", "--nproc-per-node=4", "train.py", "--tensor-model-parallel-size=3"),
        [],
    ),
    "degrees that a variable says": (
        "RUN082",
        command("torchrun", "train.py", "--tensor-model-parallel-size=$(DEGREE)"),
        [],
    ),
    "degrees of processes, one for each CPU": ("RUN082", MEGATRON.replace("PROCESSES", "cpu"), []),
    "degrees of processes, one for each GPU": (
        "RUN082",
        MEGATRON.replace("PROCESSES", "gpu"),
        ["job `llama` has 32 ranks (4 nodes of 8), and its model is divided by 3 × 1 × 1 = 3"],
    ),
    "samples of a job whose processes nobody counts": (
        "RUN100",
        required("node.kubernetes.io/instance-type", "m7i.8xlarge") + "\n---\n" + ON_CPUS,
        [],
    ),
    "degrees of processes that a variable counts": (
        "RUN082",
        command(
            "torchrun", "--nproc-per-node=$(COUNT)", "train.py", "--tensor-model-parallel-size=3"
        ),
        [],
    ),
    "samples of processes that a variable counts": (
        "RUN100",
        command(
            "torchrun",
            "--nproc-per-node=$(COUNT)",
            "train.py",
            "--tensor-model-parallel-size=8",
            "--micro-batch-size=2",
            "--global-batch-size=129",
        ),
        [],
    ),
    "samples of a job whose nodes Flux counts": (
        "RUN100",
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {trainer: {numNodes: '${NODES}', command: "
        "[torchrun, train.py, --tensor-model-parallel-size=8, --micro-batch-size=2, --global-batch-size=129]}}",
        [],
    ),
    "a process for each GPU of a node of which the job asks for half": (
        "RUN011",
        job("processesPerNode: 8, resources: {accelerators: 4}"),
        [],
    ),
    "a file of a shell, with an option like that of the shell": (
        "RUN035",
        command("bash", "train.sh", "-c", "large", "--epochs=3"),
        [],
    ),
    "torchrun that gets its nodes by a variable": ("RUN022", NO_POLICY + "\n---\n" + PET, []),
    "a variable that slows training, in a job without accelerators": (
        "RUN124",
        CPUS + job("env: {CUDA_LAUNCH_BLOCKING: '1'}"),
        [],
    ),
    "a long job on CPUs, whose failures nobody counts": (
        "RUN175",
        CPUS + job("expected: 9000h, retries: 0"),
        [],
    ),
    "a job on HyperPod, by the name of its type": (
        "RUN154",
        pytorch("[python, train.py]").replace(
            "sagemaker.amazonaws.com/node-health-status: Schedulable",
            "node.kubernetes.io/instance-type: ml.p4d.24xlarge",
        ),
        ["job `bert` runs on HyperPod, which does not resume it once it has replaced a node"],
    ),
    "a job on EKS, by the name of its type": (
        "RUN154",
        pytorch("[python, train.py]").replace(
            "sagemaker.amazonaws.com/node-health-status: Schedulable",
            "node.kubernetes.io/instance-type: p4d.24xlarge",
        ),
        [],
    ),
    "a job that HyperPod resumes, without a number of times": (
        "RUN154",
        pytorch("[python, train.py]", 'sagemaker.amazonaws.com/enable-job-auto-resume: "true"'),
        ["job `bert` does not say how often HyperPod resumes it"],
    ),
    "a command of blanks": ("RUN074", pod('image: "a:1", command: [bash, -c, " "]'), []),
    "a command with a blank line at its end": (
        "RUN074",
        pod('image: "a:1", command: [bash, -c, "date; nvidia-smi -L\\n"]'),
        ["`nvidia-smi` of Pod `smi` ends, and is started again each time"],
    ),
}
HELPS = {
    "mpirun in pods without Trainer": (
        "RUN026",
        pytorch("[mpirun, -np, '16', python, train.py]"),
        "make it an MPIJob, which has a list of the hosts, or write `--hostfile`",
    ),
    "machines of accelerate in pods without Trainer": (
        "RUN026",
        pytorch("[accelerate, launch, --num_machines=2, train.py]"),
        "add `--main_process_ip` with the host of the first pod, and `--machine_rank` with the index of the pod",
    ),
    "accelerate without a rank, in pods without Trainer": (
        "RUN121",
        pytorch(
            "[accelerate, launch, --num_machines=2, --num_processes=16, --main_process_ip=a, train.py]"
        ),
        "add `--machine_rank` with a variable of the pod, like the index that its controller gives it",
    ),
    "nodes that train alone, in pods without Trainer": (
        "RUN036",
        pytorch("[torchrun, --standalone, --nnodes=2, train.py]"),
        "remove it, and say where the nodes meet: `--rdzv-endpoint=HOST:29500` with the host of the first pod",
    ),
    "nodes that wait for themselves, in pods without Trainer": (
        "RUN036",
        pytorch("[torchrun, --nnodes=2, --master_addr=localhost, train.py]"),
        "name the host of the first pod",
    ),
}


@pytest.mark.parametrize("title", SAID)
def test_it_is_said(title: str) -> None:
    code, text, messages = SAID[title]
    assert said(code, text) == messages


@pytest.mark.parametrize(
    "words",
    [
        ("torchrun", "--nproc-per-node=²", "train.py", "--tensor-model-parallel-size=²"),
        ("torchrun", "--nnodes=²:²", "--node-rank=²", "train.py", "--epochs=²"),
        ("accelerate", "launch", "--num_machines=²", "--num_processes=²", "train.py"),
        ("python", "train.py", "--tensor-model-parallel-size=3", "--micro-batch-size=²"),
    ],
)
def test_what_python_takes_for_a_digit_is_no_number(words: tuple[str, ...]) -> None:
    """No rule fails over it."""
    assert "INT002" not in {each.code for each in findings_for(command(*words))}


OWN_TAINT = "{$patch: replace, key: dedicated, effect: NoSchedule}"


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        (f"{POOL}spec: {{template: {{spec: {{taints: [{OWN_TAINT}]}}}}}}", Severity.ERROR),
        (f"{POOL}$patch: delete", Severity.WARNING),
    ],
)
def test_tolerations_are_missed_where_pools_are_known(change: str, severity: Severity) -> None:
    """A patch that drops some is an error where the taints of every pool repel the pods."""
    pod = "{tolerations: [{key: team, operator: Exists}]}"
    jobs = f"[{{name: node, template: {{spec: {{template: {{spec: {pod}}}}}}}}}]"
    text = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {runtimePatches: [{manager: a.b/c, "
        f"trainingRuntimeSpec: {{template: {{spec: {{replicatedJobs: {jobs}}}}}}}}}]}}"
    )
    own = pods("{spec: {tolerations: [{key: dedicated, operator: Exists}]}}")
    (only,) = found("RUN005", "\n---\n".join([text, own, change]))
    assert only.severity is severity


def test_a_word_is_found_in_its_field() -> None:
    """A command and its arguments are one line."""
    (only,) = found("RUN035", job("command: [bash, -c, torchrun], args: [train.py]"))
    assert str(only.at).endswith("spec.trainer.args[0]")


@pytest.mark.parametrize("title", HELPS)
def test_what_helps(title: str) -> None:
    code, text, help = HELPS[title]
    assert [each.help for each in found(code, text)] == [help]
