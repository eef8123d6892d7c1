"""What the report says of EKS."""

from trainyard.eks.report import logs, managed_monitoring, monitoring
from trainyard.eks.report.nodes import costs, repair

__all__ = ["SECTIONS", "costs", "repair"]

SECTIONS = (monitoring, managed_monitoring, logs)
