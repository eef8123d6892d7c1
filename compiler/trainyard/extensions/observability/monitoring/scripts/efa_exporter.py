"""Say the counters of EFA interfaces to Prometheus.

Runs on each node with EFA, with nothing but Python. The driver writes a file a counter, which anybody may read:
/sys/class/infiniband/DEVICE/ports/PORT/hw_counters/NAME (linux v6.12 drivers/infiniband/hw/efa/efa_verbs.c,
efa_get_hw_stats; drivers/infiniband/core/sysfs.c). Names are those of AWS' own exporter for EKS, so that its dashboards
work: node_amazonefa_NAME. The state of a port is one more: node_amazonefa_link_up.
"""

import argparse
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COUNTERS = {
    "rx_bytes": "bytes received",
    "tx_bytes": "bytes sent",
    "rx_drops": "packets dropped on arrival",
    "rdma_read_bytes": "bytes read by RDMA",
    "rdma_write_bytes": "bytes written by RDMA",
    "rdma_read_wr_err": "RDMA reads that failed",
    "rdma_write_wr_err": "RDMA writes that failed",
    "retrans_bytes": "bytes sent again",
    "retrans_pkts": "packets sent again",
    "retrans_timeout_events": "timeouts that changed the path of traffic",
    "impaired_remote_conn_events": "connections whose rate was limited",
    "unresponsive_remote_events": "connections whose other end did not answer",
}


def read(path):
    """The text of a file; none where it cannot be read."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def listed(folder):
    """The names in a folder, sorted; none where it is not there."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def ports(root):
    """Each port of each interface: device, port and folder."""
    for device in listed(root):
        for port in listed(os.path.join(root, device, "ports")):
            yield device, port, os.path.join(root, device, "ports", port)


def metrics(root):
    """The text format of Prometheus: each metric with what it is, then a line a port."""
    lines = []
    found = list(ports(root))
    for name, help in COUNTERS.items():
        samples = []
        for device, port, folder in found:
            value = read(os.path.join(folder, "hw_counters", name))
            if value is not None and value.isdigit():
                samples.append(sample(f"node_amazonefa_{name}", device, port, value))
        if samples:
            lines += head(f"node_amazonefa_{name}", "counter", help) + samples
    up = "node_amazonefa_link_up"
    states = [(device, port, read(os.path.join(folder, "state"))) for device, port, folder in found]
    samples = [
        sample(up, device, port, int(state.startswith("4:")))  # "4: ACTIVE"
        for device, port, state in states
        if state is not None
    ]
    if samples:
        lines += head(up, "gauge", "whether the port is active") + samples
    return "".join(f"{line}\n" for line in lines)


def head(name, type, help):
    return [f"# HELP {name} {help}", f"# TYPE {name} {type}"]


def sample(name, device, port, value):
    return f'{name}{{device="{device}",port="{port}"}} {value}'


def handler(root):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            text = metrics(root) if self.path == "/metrics" else "metrics are at /metrics\n"
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            """Keep quiet: a scrape is not worth a line."""

    return Handler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default="/host/sys/class/infiniband")
    parser.add_argument("--port", type=int, default=9810)
    given = parser.parse_args()
    ThreadingHTTPServer(("", given.port), handler(given.root)).serve_forever()


if __name__ == "__main__":
    main()
