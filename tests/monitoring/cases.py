"""For each alert: series at which it fires, and others, as like them as can be, at which it does not.

Series are in promtool's notation, a sample a minute: ``0+1x60`` begins at 0 and grows by 1 for 60 minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Series = Mapping[str, str]
BLOCK_ENDS = 30 * 3600
"""Of a block in tests of time, in seconds since 1970, where the clock of promtool begins."""


@dataclass(frozen=True)
class Case:
    """``bad`` fires ``minutes`` after the start, with ``labels`` and the message ``says``; ``good`` does not.

    Nor does any of ``near``, minutes and series, which are as close to it as can be.
    """

    bad: Series
    good: Series
    says: str
    labels: Mapping[str, str] = field(default_factory=dict)
    minutes: int = 60
    near: tuple[tuple[int, Series], ...] = ()


GPU = 'node="n1",gpu="3"'
ON_GPU = {"node": "n1", "gpu": "3"}
EFA = 'node="n1",device="rdmap79s0",port="1"'
ON_EFA = {"node": "n1", "device": "rdmap79s0"}
TEAM = {"namespace": "team-a", "training_job": "llama"}
RUN = 'label_jobset_sigs_k8s_io_jobset_name="llama-1a2b3"'
AGENT = 'condition="AcceleratedHardwareReady",status="false"'
LOKI = 'host="loki.logging.svc:3100",tenant="fake"'
CLAIM = 'namespace="team-a",persistentvolumeclaim="checkpoints"'
ON_CLAIM = {"namespace": "team-a", "persistentvolumeclaim": "checkpoints"}
DEPLOYMENT = 'namespace="kueue-system",deployment="kueue-controller-manager"'
SAVING = 'namespace="team-a",pod="checkpoint-exporter-llama-0",training_job="llama",persistentvolumeclaim="checkpoints"'
BESIDE = 'namespace="team-a",deployment="checkpoint-exporter-llama"'
FLUX = 'kind="HelmRelease",name="kueue",exported_namespace="flux-system"'
ON_FLUX = {"kind": "HelmRelease", "name": "kueue", "exported_namespace": "flux-system"}


def pods(*names: str, of: str = RUN) -> dict[str, str]:
    return {f'kube_pod_labels{{namespace="team-a",pod="{name}",{of}}}': "1+0x180" for name in names}


def running(pod: str, since: int = 0) -> dict[str, str]:
    return {
        f'kube_pod_start_time{{namespace="team-a",pod="{pod}"}}': f"{since}+0x180",
        f'kube_pod_status_phase{{namespace="team-a",pod="{pod}",phase="Running"}}': "1+0x180",
    }


def gpu_of(pod: str, metric: str, values: str, node: str = "n1") -> dict[str, str]:
    return {f'{metric}{{node="{node}",gpu="0",namespace="team-a",pod="{pod}"}}': values}


def util(pod: str, values: str, node: str = "n1") -> dict[str, str]:
    return gpu_of(pod, "DCGM_FI_DEV_GPU_UTIL", values, node)


def tensor(pod: str, values: str) -> dict[str, str]:
    return gpu_of(pod, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", values)


def nodes(**unhealthy: int) -> dict[str, str]:
    found = {}
    for name, sick in unhealthy.items():
        found[f'kube_node_labels{{node="{name}",label_karpenter_sh_nodepool="h100"}}'] = "1+0x180"
        found[f'kube_node_status_condition{{node="{name}",{AGENT}}}'] = f"{sick}+0x180"
    return found


STATUS = "sagemaker_amazonaws_com_node_health_status"


def status(value: str) -> dict[str, str]:
    return {f'kube_node_labels{{node="n1",label_{STATUS}="{value}"}}': "1+0x180"}


def not_ready(count: int, *, of: int) -> dict[str, str]:
    """Nodes of which some do not answer: what the kubelet says is unknown."""
    found = {}
    for number in range(of):
        sick = int(number < count)
        name = f"n{number}"
        found[f'kube_node_labels{{node="{name}",label_karpenter_sh_nodepool="h100"}}'] = "1+0x180"
        for status, value in (("unknown", sick), ("true", 1 - sick), ("false", 0)):
            condition = f'node="{name}",condition="Ready",status="{status}"'
            found[f"kube_node_status_condition{{{condition}}}"] = f"{value}+0x180"
    return found


def efa(name: str, values: str) -> dict[str, str]:
    return {f"node_amazonefa_{name}{{{EFA}}}": values}


CASES: dict[str, Case] = {
    "GpuXidFatal": Case(
        {f'DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="79"}}': "1+0x60"},
        {f'DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="31"}}': "1+0x60"},
        "GPU 3 of n1 reported Xid 79: the GPU has fallen off the bus",
        {**ON_GPU, "xid": "79"},
    ),
    "GpuXid": Case(
        {f'DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="31"}}': "1+0x60"},
        {
            f'DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="79"}}': "1+0x60",
            f'DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="0"}}': "5+0x60",
            'DCGM_EXP_XID_ERRORS_COUNT{node="n2",gpu="0"}': "0+0x60",
        },
        "GPU 3 of n1 reported Xid 31",
        {**ON_GPU, "xid": "31"},
    ),
    "GpuThermalThrottling": Case(
        {f'DCGM_EXP_CLOCK_EVENTS_COUNT{{{GPU},clock_event="hw_thermal"}}': "9+0x60"},
        {f'DCGM_EXP_CLOCK_EVENTS_COUNT{{{GPU},clock_event="power_cap"}}': "9+0x60"},
        "GPU 3 of n1 lowers its clocks because of heat: its gang waits for it",
        ON_GPU,
    ),
    "GpuPowerBrake": Case(
        {f'DCGM_EXP_CLOCK_EVENTS_COUNT{{{GPU},clock_event="hw_power_brake"}}': "9+0x60"},
        {f'DCGM_EXP_CLOCK_EVENTS_COUNT{{{GPU},clock_event="power_cap"}}': "9+0x60"},
        "GPU 3 of n1 lowers its clocks because its power supply asks for it",
        ON_GPU,
    ),
    "GpuHot": Case(
        {f"DCGM_FI_DEV_GPU_TEMP{{{GPU}}}": "84+0x60"},
        {f"DCGM_FI_DEV_GPU_TEMP{{{GPU}}}": "72+0x60"},
        "GPU 3 of n1 has 84 °C",
        ON_GPU,
    ),
    "GpuMemoryError": Case(
        {f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{GPU}}}": "0+0x55 1+0x5"},
        {f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{GPU}}}": "1+0x60"},
        "GPU 3 of n1 had a double-bit error in its memory",
        ON_GPU,
    ),
    "GpuRowRemapPending": Case(
        {f"DCGM_FI_DEV_ROW_REMAP_PENDING{{{GPU}}}": "1+0x60"},
        {f"DCGM_FI_DEV_ROW_REMAP_PENDING{{{GPU}}}": "0+0x60"},
        "GPU 3 of n1 waits for a reset to remap a row of its memory",
        ON_GPU,
    ),
    "GpuRowRemapFailed": Case(
        {f"DCGM_FI_DEV_ROW_REMAP_FAILURE{{{GPU}}}": "1+0x60"},
        {f"DCGM_FI_DEV_ROW_REMAP_FAILURE{{{GPU}}}": "0+0x60"},
        "GPU 3 of n1 has no spare row left for its memory",
        ON_GPU,
    ),
    "GpuNvlinkErrors": Case(
        {f"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL{{{GPU}}}": "0+1x60"},
        {
            f"DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL{{{GPU}}}": "7+0x60",
            f"DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL{{{GPU}}}": "0+1x60",
        },
        "GPU 3 of n1 has errors on NVLink",
        ON_GPU,
    ),
    "EfaLinkDown": Case(
        efa("link_up", "1+0x50 0+0x9"),
        efa("link_up", "1+0x60"),
        "rdmap79s0 of n1 has no link",
        ON_EFA,
    ),
    "EfaRetransmits": Case(
        {**efa("retrans_bytes", "0+5x60"), **efa("tx_bytes", "0+100x60")},
        {**efa("retrans_bytes", "0+5x60"), **efa("tx_bytes", "0+10000x60")},
        "rdmap79s0 of n1 sends 5% of its bytes again",
        ON_EFA,
    ),
    "EfaPathTimeouts": Case(
        efa("retrans_timeout_events", "0+1x60"),
        efa("retrans_timeout_events", "0+0x50 5+0x10"),
        "rdmap79s0 of n1 changed its network paths 15 times in 15 minutes",
        ON_EFA,
    ),
    "EfaDrops": Case(
        efa("rx_drops", "0+3x60"),
        efa("rx_drops", "3+0x60"),
        "rdmap79s0 of n1 dropped packets on arrival",
        ON_EFA,
    ),
    "EfaRdmaErrors": Case(
        {**efa("rdma_read_wr_err", "0+1x60"), **efa("rdma_write_wr_err", "0+1x60")},
        {**efa("rdma_read_wr_err", "4+0x60"), **efa("rdma_write_wr_err", "4+0x60")},
        "RDMA over rdmap79s0 of n1 failed 30 times in 15 minutes",
        ON_EFA,
    ),
    "EfaPeerUnresponsive": Case(
        {
            **efa("unresponsive_remote_events", "0+1x60"),
            **efa("impaired_remote_conn_events", "0+0x60"),
        },
        {
            **efa("unresponsive_remote_events", "1+0x60"),
            **efa("impaired_remote_conn_events", "1+0x60"),
        },
        "rdmap79s0 of n1 has peers that do not answer, or only slowly",
        ON_EFA,
    ),
    "GangHung": Case(
        {**pods("p0"), **util("p0", "100+0x60"), **tensor("p0", "0.6+0x9 0+0x50")},
        {**pods("p0"), **util("p0", "100+0x60"), **tensor("p0", "0.4+0x60")},
        "Job llama of team-a hangs in a collective: its GPUs are busy and compute nothing",
        TEAM,
    ),
    "GangRankBehind": Case(
        {**pods("p0", "p1"), **util("p0", "100+0x60"), **util("p1", "0+0x60", "n2")},
        {**pods("p0", "p1"), **util("p0", "100+0x60"), **util("p1", "97+0x60", "n2")},
        "Job llama of team-a waits for p1: its GPUs do nothing, and those of the others wait",
        {**TEAM, "pod": "p1"},
    ),
    "JobNotComputing": Case(
        {
            **pods("p0", of='label_training_kubeflow_org_job_name="llama-1a2b3"'),
            'kube_pod_start_time{namespace="team-a",pod="p0"}': "0+0x60",
            **util("p0", "0+0x60"),
        },
        {
            **pods("p0"),
            'kube_pod_start_time{namespace="team-a",pod="p0"}': "0+0x60",
            **util("p0", "0+0x20 90+0x40"),
        },
        "Job llama of team-a has run for half an hour and its GPUs never worked",
        TEAM,
    ),
    "GpusIdle": Case(
        {
            **pods("p0"),
            **util("p0", "0+0x60"),
            'kube_node_labels{node="n1",label_node_kubernetes_io_instance_type="p5.48xlarge",'
            'label_karpenter_sh_nodepool="h100"}': "1+0x60",
        },
        {**pods("p0"), **util("p0", "60+0x60")},
        "Job llama of team-a has 1 GPUs that did nothing for half an hour: $PRICE an hour",
        TEAM,
    ),
    "JobUtilizationLow": Case(
        {**pods("p0"), **util("p0", "40+0x180")},
        {**pods("p0"), **util("p0", "97+0x180")},
        "Job llama of team-a used its GPUs to 40 % in the last hour",
        TEAM,
        minutes=120,
    ),
    "JobPodsPending": Case(
        {
            **pods("p0", "p1"),
            'kube_pod_status_phase{namespace="team-a",pod="p0",phase="Pending"}': "1+0x60",
            'kube_pod_status_phase{namespace="team-a",pod="p1",phase="Pending"}': "0+0x60",
        },
        {
            **pods("p0"),
            'kube_pod_status_phase{namespace="team-a",pod="p0",phase="Pending"}': "1+0x20 0+0x40",
        },
        "Job llama of team-a waits for 1 of its pods",
        TEAM,
    ),
    "ImagePullFails": Case(
        {
            'kube_pod_container_status_waiting_reason{namespace="team-a",pod="p0",container="node",'
            'reason="ImagePullBackOff"}': "1+0x60"
        },
        {
            'kube_pod_container_status_waiting_reason{namespace="team-a",pod="p0",container="node",'
            'reason="ContainerCreating"}': "1+0x60"
        },
        "p0 of team-a cannot pull its image (ImagePullBackOff)",
        {"namespace": "team-a", "pod": "p0", "container": "node", "reason": "ImagePullBackOff"},
    ),
    "JobRestartsRepeat": Case(
        {
            'trainyard_jobset_restarts{namespace="team-a",jobset="llama-1a2b3"}': "0+0x20 1+0x9 2+0x9 3+0x20"
        },
        {'trainyard_jobset_restarts{namespace="team-a",jobset="llama-1a2b3"}': "5+0x60"},
        "llama-1a2b3 of team-a restarted 3 times in two hours",
        {"namespace": "team-a", "jobset": "llama-1a2b3"},
    ),
    "JobNearLastRetry": Case(
        {
            'trainyard_jobset_restarts{namespace="team-a",jobset="llama-1a2b3"}': "2+0x60",
            'trainyard_jobset_max_restarts{namespace="team-a",jobset="llama-1a2b3"}': "3+0x60",
        },
        {
            'trainyard_jobset_restarts{namespace="team-a",jobset="llama-1a2b3"}': "0+0x60",
            'trainyard_jobset_max_restarts{namespace="team-a",jobset="llama-1a2b3"}': "1+0x60",
        },
        "llama-1a2b3 of team-a fails for good after 1 more restarts",
        {"namespace": "team-a", "jobset": "llama-1a2b3"},
    ),
    "JobCpuThrottled": Case(
        {
            **pods("p0"),
            'container_cpu_cfs_throttled_periods_total{namespace="team-a",pod="p0",container="node"}': "0+50x60",
            'container_cpu_cfs_periods_total{namespace="team-a",pod="p0",container="node"}': "0+100x60",
        },
        {
            **pods("p0"),
            'container_cpu_cfs_throttled_periods_total{namespace="team-a",pod="p0",container="node"}': "0+5x60",
            'container_cpu_cfs_periods_total{namespace="team-a",pod="p0",container="node"}': "0+100x60",
        },
        "Job llama of team-a is throttled in 50% of the time: it reached its limit of CPU",
        TEAM,
    ),
    "CheckpointOverdue": Case(
        {
            **pods("p0"),
            **running("p0"),
            f"trainyard_checkpoint_interval_seconds{{{SAVING}}}": "1800+0x120",
            # saved ten minutes after the start, and never again
            f"trainyard_checkpoint_last_write_timestamp_seconds{{{SAVING}}}": "600+0x120",
        },
        {
            **pods("p0"),
            **running("p0"),
            f"trainyard_checkpoint_interval_seconds{{{SAVING}}}": "1800+0x120",
            f"trainyard_checkpoint_last_write_timestamp_seconds{{{SAVING}}}": "600+0x60 5400+0x60",
        },
        "Job llama of team-a has saved nothing for 1h 50m 0s",
        TEAM,
        minutes=120,
    ),
    "CheckpointUnseen": Case(
        {
            f"trainyard_checkpoint_readable{{{SAVING}}}": "0+0x60",
            f"kube_deployment_status_replicas_available{{{BESIDE}}}": "1+0x60",
        },
        {
            f"trainyard_checkpoint_readable{{{SAVING}}}": "1+0x60",
            f"kube_deployment_status_replicas_available{{{BESIDE}}}": "1+0x60",
            f"kube_deployment_status_replicas_available{{{DEPLOYMENT}}}": "0+0x60",
        },
        "nobody sees whether job llama of team-a saves",
        TEAM,
    ),
    "FileSystemFilling": Case(
        {
            f"trainyard_checkpoint_storage_free_bytes{{{SAVING}}}": "80+0x60",
            f"trainyard_checkpoint_storage_size_bytes{{{SAVING}}}": "1000+0x60",
        },
        {
            f"trainyard_checkpoint_storage_free_bytes{{{SAVING}}}": "120+0x60",
            f"trainyard_checkpoint_storage_size_bytes{{{SAVING}}}": "1000+0x60",
        },
        "the file system of checkpoints of team-a is 8% free",
        ON_CLAIM,
    ),
    "FileSystemFullSoon": Case(
        {
            f"trainyard_checkpoint_storage_free_bytes{{{SAVING}}}": "390-1x120",
            f"trainyard_checkpoint_storage_size_bytes{{{SAVING}}}": "1000+0x120",
        },
        {
            f"trainyard_checkpoint_storage_free_bytes{{{SAVING}}}": "390-0.1x120",
            f"trainyard_checkpoint_storage_size_bytes{{{SAVING}}}": "1000+0x120",
        },
        "the file system of checkpoints of team-a is full within a day if it goes on like this",
        ON_CLAIM,
        minutes=120,
    ),
    "QueueBlocked": Case(
        {'kueue_pending_workloads{cluster_queue="research",status="inadmissible"}': "2+0x180"},
        {'kueue_pending_workloads{cluster_queue="research",status="active"}': "2+0x180"},
        "2 jobs of queue research cannot be admitted since two hours",
        {"cluster_queue": "research"},
        minutes=150,
    ),
    "QueueEvictsUnready": Case(
        {
            'kueue_evicted_workloads_total{cluster_queue="research",reason="PodsReadyTimeout"}': "0+0.1x120"
        },
        {'kueue_evicted_workloads_total{cluster_queue="research",reason="Preempted"}': "0+0.1x120"},
        "queue research gave up 12 jobs whose pods did not come in time",
        {"cluster_queue": "research"},
        minutes=120,
    ),
    "NodeNotReady": Case(
        {'kube_node_status_condition{node="n1",condition="Ready",status="true"}': "0+0x60"},
        {'kube_node_status_condition{node="n1",condition="Ready",status="true"}': "1+0x60"},
        "n1 is not ready",
        {"node": "n1"},
    ),
    "NodeUnhealthy": Case(
        nodes(n1=1),
        nodes(n1=0),
        "n1 reports AcceleratedHardwareReady=False",
        {"node": "n1", "condition": "AcceleratedHardwareReady"},
    ),
    "HyperPodNodeSick": Case(
        status("UnschedulablePendingReplacement"),
        status("Schedulable"),
        "HyperPod says of n1: UnschedulablePendingReplacement",
        {"node": "n1", f"label_{STATUS}": "UnschedulablePendingReplacement"},
        # Deep health checks of a new node, a reboot that is over soon, and nodes of EKS without the label.
        near=(
            (60, status("Unschedulable")),
            (12, status("UnschedulablePendingReboot")),
            (60, nodes(n1=0)),
        ),
    ),
    "NodeRepairStopped": Case(
        {**not_ready(2, of=10), **nodes(n3=1)},
        {
            **nodes(n1=1, n2=0, n3=0, n4=0, n5=0, n6=0),
            'kube_node_labels{node="system"}': "1+0x60",
            f'kube_node_status_condition{{node="system",{AGENT}}}': "1+0x60",
        },
        "more than a fifth of pool h100 is sick: nodes are no longer replaced",
        {"label_karpenter_sh_nodepool": "h100"},
        # A fifth is rounded up: of one to five nodes one is still replaced, of ten two are.
        near=(
            (60, nodes(n1=1)),
            (60, nodes(n1=1, n2=0, n3=0, n4=0)),
            (60, not_ready(2, of=10)),
            (60, {**not_ready(1, of=4), **nodes(n0=1)}),
        ),
    ),
    "NodeOutOfMemory": Case(
        {'node_vmstat_oom_kill{node="n1"}': "0+0x50 2+0x10"},
        {'node_vmstat_oom_kill{node="n1"}': "2+0x60"},
        "the kernel of n1 killed programs for memory",
        {"node": "n1"},
    ),
    "NodeDiskFilling": Case(
        {
            'node_filesystem_avail_bytes{node="n1",mountpoint="/"}': "10+0x60",
            'node_filesystem_size_bytes{node="n1",mountpoint="/"}': "100+0x60",
        },
        {
            'node_filesystem_avail_bytes{node="n1",mountpoint="/"}': "30+0x60",
            'node_filesystem_size_bytes{node="n1",mountpoint="/"}': "100+0x60",
            'node_filesystem_avail_bytes{node="n1",mountpoint="/run/lock"}': "0+0x60",
            'node_filesystem_size_bytes{node="n1",mountpoint="/run/lock"}': "5+0x60",
        },
        "/ of n1 is 10% free",
        {"node": "n1", "mountpoint": "/"},
    ),
    "VolumeFilling": Case(
        {
            f"kubelet_volume_stats_available_bytes{{{CLAIM}}}": "5+0x60",
            f"kubelet_volume_stats_capacity_bytes{{{CLAIM}}}": "100+0x60",
        },
        {
            f"kubelet_volume_stats_available_bytes{{{CLAIM}}}": "20+0x60",
            f"kubelet_volume_stats_capacity_bytes{{{CLAIM}}}": "100+0x60",
        },
        "volume checkpoints of team-a is 5% free",
        ON_CLAIM,
    ),
    "VolumeFullSoon": Case(
        {
            f"kubelet_volume_stats_available_bytes{{{CLAIM}}}": "39-0.05x420",
            f"kubelet_volume_stats_capacity_bytes{{{CLAIM}}}": "100+0x420",
        },
        {
            f"kubelet_volume_stats_available_bytes{{{CLAIM}}}": "39-0.001x420",
            f"kubelet_volume_stats_capacity_bytes{{{CLAIM}}}": "100+0x420",
        },
        "volume checkpoints of team-a is full within a day if it goes on like this",
        ON_CLAIM,
        minutes=420,
    ),
    "BlockEnds": Case({}, {}, "the Capacity Block of pool block ends in 10 hours", minutes=20 * 60),
    "ReservationUnused": Case(
        {'kube_node_labels{node="n1",label_karpenter_sh_nodepool="block"}': "1+0x60"},
        {
            f'kube_node_labels{{node="n{index}",label_karpenter_sh_nodepool="block"}}': "1+0x60"
            for index in range(4)
        },
        "3 of 4 reserved nodes of pool block are not used",
        # Before its end the nodes of a block are drained, and nobody can use them.
        near=((BLOCK_ENDS // 60 - 5, {}), (BLOCK_ENDS // 60 - 1, {})),
    ),
    "FluxNotReady": Case(
        {f'gotk_resource_info{{{FLUX},ready="False"}}': "1+0x60"},
        {f'gotk_resource_info{{{FLUX},ready="True"}}': "1+0x60"},
        "Flux cannot apply HelmRelease kueue",
        ON_FLUX,
    ),
    "FluxSuspended": Case(
        {f'gotk_resource_info{{{FLUX},ready="True",suspended="true"}}': "1+0x1600"},
        {f'gotk_resource_info{{{FLUX},ready="True"}}': "1+0x1600"},
        "HelmRelease kueue is suspended since a day",
        ON_FLUX,
        minutes=1500,
    ),
    "WebhookFails": Case(
        {
            'apiserver_admission_webhook_rejection_count{name="mjob.kb.io",error_type="calling_webhook_error"}': (
                "0+1x60"
            )
        },
        {
            'apiserver_admission_webhook_rejection_count{name="mjob.kb.io",error_type="no_error"}': "0+1x60"
        },
        "the API server cannot call webhook mjob.kb.io",
        {"name": "mjob.kb.io"},
    ),
    "ControllerDown": Case(
        {
            f"kube_deployment_status_replicas_available{{{DEPLOYMENT}}}": "0+0x60",
            f"kube_deployment_spec_replicas{{{DEPLOYMENT}}}": "1+0x60",
        },
        {
            f"kube_deployment_status_replicas_available{{{DEPLOYMENT}}}": "1+0x60",
            f"kube_deployment_spec_replicas{{{DEPLOYMENT}}}": "2+0x60",
            'kube_deployment_status_replicas_available{namespace="team-a",deployment="own"}': "0+0x60",
            'kube_deployment_spec_replicas{namespace="team-a",deployment="own"}': "1+0x60",
        },
        "kueue-controller-manager of kueue-system has no pod that is available",
        {"namespace": "kueue-system", "deployment": "kueue-controller-manager"},
    ),
    "ControllerFails": Case(
        {
            'controller_runtime_reconcile_total{job="kueue",controller="workload",result="error"}': "0+9x60",
            'controller_runtime_reconcile_total{job="kueue",controller="workload",result="success"}': "0+1x60",
        },
        {
            'controller_runtime_reconcile_total{job="kueue",controller="workload",result="error"}': "0+1x60",
            'controller_runtime_reconcile_total{job="kueue",controller="workload",result="success"}': "0+9x60",
        },
        "controller workload (kueue) fails in 90% of its tries",
        {"job": "kueue", "controller": "workload"},
    ),
    "TargetDown": Case(
        {'up{job="dcgm-exporter",instance="10.0.1.2:9400"}': "0+0x60"},
        {'up{job="dcgm-exporter",instance="10.0.1.2:9400"}': "1+0x60"},
        "Prometheus cannot scrape 10.0.1.2:9400 of dcgm-exporter",
        {"job": "dcgm-exporter", "instance": "10.0.1.2:9400"},
    ),
    "PrometheusTooManySeries": Case(
        {"prometheus_tsdb_head_series": "9000000+0x60"},
        {"prometheus_tsdb_head_series": "9000+0x60"},
        "Prometheus has 9M series, more than it has memory for",
    ),
    "PrometheusRuleFails": Case(
        {'prometheus_rule_evaluation_failures_total{rule_group="trainyard-jobs"}': "0+1x60"},
        {'prometheus_rule_evaluation_failures_total{rule_group="trainyard-jobs"}': "3+0x60"},
        "rules of trainyard-jobs fail",
        {"rule_group": "trainyard-jobs"},
    ),
    "PrometheusAlertsLost": Case(
        {
            'prometheus_notifications_dropped_total{alertmanager="http://10.0.1.2:9093/api/v2/alerts"}': "0+1x60"
        },
        {
            'prometheus_notifications_dropped_total{alertmanager="http://10.0.1.2:9093/api/v2/alerts"}': "4+0x60"
        },
        "Prometheus cannot hand its alerts to Alertmanager",
    ),
    "AlertmanagerFails": Case(
        {'alertmanager_notifications_failed_total{integration="slack"}': "0+1x60"},
        {'alertmanager_notifications_failed_total{integration="slack"}': "2+0x60"},
        "Alertmanager cannot notify by slack",
        {"integration": "slack"},
    ),
    "SamplesStayAway": Case(
        {},
        {'up{job="kueue",instance="10.0.1.2:8443"}': "1+0x60"},
        "Amazon Managed Service for Prometheus gets no samples of the cluster",
    ),
    "SamplesRefused": Case(
        {
            "prometheus_remote_storage_samples_failed_total": "0+9x60",
            'prometheus_remote_storage_samples_dropped_total{reason="too_old"}': "0+0x60",
        },
        {
            "prometheus_remote_storage_samples_failed_total": "5+0x60",
            'prometheus_remote_storage_samples_dropped_total{reason="too_old"}': "3+0x60",
        },
        "Amazon Managed Service for Prometheus refuses samples",
    ),
    "LogsNotTaken": Case(
        {f'loki_write_batch_retries_total{{node="n1",{LOKI}}}': "0+1x60"},
        {f'loki_write_batch_retries_total{{node="n1",{LOKI}}}': "7+0x60"},
        "Loki takes no logs of node n1",
        {"node": "n1"},
    ),
    "LogsDropped": Case(
        {f'loki_write_dropped_entries_total{{node="n1",{LOKI},reason="line_too_long"}}': "0+1x60"},
        {f'loki_write_dropped_entries_total{{node="n1",{LOKI},reason="line_too_long"}}': "3+0x60"},
        "logs of node n1 are dropped: line_too_long",
        {"node": "n1", "reason": "line_too_long"},
    ),
    "Watchdog": Case({}, {}, "alerts are evaluated and sent; this one always fires"),
}
ALWAYS = {"Watchdog"}
"""Alerts that fire whatever there is."""


def expected(case: Case, alert: Any) -> list[dict[str, Any]]:
    """What promtool compares: labels and annotations."""
    owner = case.labels["namespace"] if alert.owner != "platform" else "platform"
    labels = {**case.labels, "severity": alert.severity, "owner": owner}
    annotations = {"summary": case.says, "description": alert.description}
    return [{"exp_labels": labels, "exp_annotations": annotations}]
