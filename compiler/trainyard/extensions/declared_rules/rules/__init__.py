"""What reads a file of rules that is no Python."""
