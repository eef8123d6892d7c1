"""The command line: parses, calls the driver, prints, and turns the outcome into an exit code."""
