"""What others wrote: which files hold objects, which of them belong together, and what could not be judged."""
