"""The facts themselves: the command that lists them and asks EC2 for newer ones, and the programs with which they are
made anew from upstream releases (``make catalog``, ``make schemas``)."""
