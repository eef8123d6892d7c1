"""The last pass: manifests to text, text to disk."""
