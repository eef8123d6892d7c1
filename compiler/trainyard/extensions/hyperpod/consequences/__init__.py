"""What an edit means for what HyperPod alone has."""
