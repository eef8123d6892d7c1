"""The commands, one module each: ``HELP``, a line for people; ``declare``, which adds what it takes to a parser; and
``run``, from the parsed arguments to an exit code.

A module is imported for its grammar too, so it imports at the top only what that needs.
"""
