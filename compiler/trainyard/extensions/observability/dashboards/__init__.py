"""Dashboards of Grafana, over what Prometheus keeps."""
