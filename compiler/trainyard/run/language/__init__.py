"""The whole language of a platform: its documents, how they are read and refused, and their schemas."""
