"""Add-ons that measure, collect and show: one file each, as those of EKS."""
