"""Network facts about FSx for Lustre."""

PORTS = ((988, 988), (1018, 1023))
"""The first and last TCP port of each range that clients and servers talk over, in both directions (FSx for Lustre user
guide, limit-access-security-groups)."""
OLDEST = "2.10"
"""The version that CreateFileSystem takes where none is said, for all deployment types but PERSISTENT_2 (FSx API,
FileSystemTypeVersion)."""
