"""The configuration of Fluent Bit: which files it reads, which fields a line has, and where lines go.

Fluent Bit 5.1.1: pipeline/inputs/tail, pipeline/filters/kubernetes, pipeline/filters/lua, pipeline/outputs/cloudwatch.
The chart reads the texts as templates of Helm, so they have no two braces in a row.
"""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.eks.jobs.pod_labels import PodLabels

FIELDS = ("log", "stream", "namespace", "pod", "container", "node")
OF_JOBS = ("job", "rank", "role", "attempt", "app")
STATE = "/var/lib/fluent-bit"
"""How far each file was read, and lines that are not yet sent; a folder of the node, so that a new pod goes on where
the old one was."""
SCRIPT = "fields.lua"


def service() -> str:
    """What is of no pipeline."""
    return _section(
        "SERVICE",
        Daemon="Off",
        Flush="1",
        Log_Level="warning",
        HTTP_Server="On",
        HTTP_Listen="0.0.0.0",  # noqa: S104 - of its pod, whose policy says who reaches it
        HTTP_Port="2020",
        Health_Check="On",
        **{"storage.path": f"{STATE}/chunks"},
    )


def inputs() -> str:
    """The files of the node's containers, each line whole. A line of more than 256 KiB is left out: CloudWatch takes no
    longer one whole (CloudWatch Logs API, PutLogEvents)."""
    return _section(
        "INPUT",
        Name="tail",
        Path="/var/log/containers/*.log",
        Tag="kube.*",
        DB=f"{STATE}/positions.db",
        Read_from_Head="On",
        # Files of pods that end soon after they start would be found too late.
        Refresh_Interval="2",
        Buffer_Max_Size="256k",
        Skip_Long_Lines="On",
        **{"multiline.parser": "cri", "storage.type": "filesystem"},
    )


def filters() -> str:
    """What the API server says of each pod, then our fields in place of it."""
    pods = _section(
        "FILTER",
        Name="kubernetes",
        Match="kube.*",
        Labels="On",
        Annotations="Off",
        Merge_Log="Off",
        Keep_Log="On",
        # An answer of the API server may be long; 0 is as long as it is.
        Buffer_Size="0",
    )
    ours = _section(
        "FILTER", Name="lua", Match="kube.*", script=f"/fluent-bit/scripts/{SCRIPT}", call="fields"
    )
    return f"{pods}\n{ours}"


def outputs(region: str, group: str) -> str:
    """A stream for each container. What cannot be sent is tried again without end."""
    return _section(
        "OUTPUT",
        Name="cloudwatch_logs",
        Match="kube.*",
        region=region,
        log_group_name=group,
        log_stream_name="other",
        log_stream_template="$namespace.$pod.$container",
        auto_create_group="Off",
        Retry_Limit="False",
    )


def _section(name: str, **settings: str) -> str:
    lines = [f"    {key} {value}" for key, value in settings.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def script(labels: PodLabels) -> str:
    """The fields of a line, by the ``labels`` of its pod. A run's name ends in five digits that its content gives, and
    what an operator adds: without them it is that of the job."""
    return f"""\
local runs = {_listed((*reversed(labels.runs), *labels.shared))}
local ranks = {_listed(reversed(labels.ranks))}
local roles = {_listed(reversed(labels.roles))}
local attempts = {_listed(labels.attempts)}
local digits = "%-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]"

local function first(labels, names)
  for _, name in ipairs(names) do
    if labels[name] and labels[name] ~= "" then return labels[name] end
  end
end

local function job_of(run)
  if not run then return nil end
  local from = 2
  while true do
    local start, last = run:find(digits, from)
    if not start then return run end
    local rest = run:sub(last + 1)
    if rest == "" or rest:match("^%-.") then return run:sub(1, start - 1) end
    from = start + 1
  end
end

function fields(tag, timestamp, record)
  local pod = record["kubernetes"] or {{}}
  local labels = pod["labels"] or {{}}
  local line = {{}}
  line["log"] = record["log"]
  line["stream"] = record["stream"]
  line["namespace"] = pod["namespace_name"]
  line["pod"] = pod["pod_name"]
  line["container"] = pod["container_name"]
  line["node"] = pod["host"]
  line["app"] = labels["app.kubernetes.io/name"]
  line["job"] = job_of(first(labels, runs))
  line["rank"] = first(labels, ranks)
  line["role"] = first(labels, roles)
  line["attempt"] = first(labels, attempts)
  return 2, timestamp, line
end
"""


def _listed(names: Iterable[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{{ {quoted} }}"
