"""Whatever is written, as one value: the artifact, and the formats that judge, read back and write it."""

from compiler.output.artifact import Artifact, Body, ObjectRef, UnjudgedError, ref_of

__all__ = ["Artifact", "Body", "ObjectRef", "UnjudgedError", "ref_of"]
