"""Pass 1: YAML text to values that know their file, line and column."""
