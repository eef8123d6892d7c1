"""Files that only HyperPod has."""
