"""The artifact, and the formats that judge, lift and write it."""

from trainyard.output.artifact import Artifact, Body, ObjectRef, UnjudgedError, group_of, ref_of

__all__ = ["Artifact", "Body", "ObjectRef", "UnjudgedError", "group_of", "ref_of"]
