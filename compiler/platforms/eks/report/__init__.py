"""What the report says of EKS."""

from compiler.platforms.eks.report import logs, managed_monitoring, monitoring
from compiler.platforms.eks.report.nodes import costs, repair

__all__ = ["SECTIONS", "costs", "repair"]

SECTIONS = (monitoring, managed_monitoring, logs)
