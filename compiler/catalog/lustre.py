"""FSx for Lustre on the network."""

PORTS = ((988, 988), (1018, 1023))
"""The first and last TCP port of each range that clients and servers talk over, in both directions (FSx for Lustre user
guide, limit-access-security-groups)."""
