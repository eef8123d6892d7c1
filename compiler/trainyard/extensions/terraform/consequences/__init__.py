"""What an edit of a module means."""
