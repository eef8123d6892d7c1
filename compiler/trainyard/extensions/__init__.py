"""What serves some people: each a folder that is found by lying here, and can be deleted."""
