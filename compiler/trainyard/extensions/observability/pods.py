"""How many pods there are beside those of jobs, at most: what is derived from their number stays the same when one of
them comes or goes."""

AGENTS = 14
"""Pods of DaemonSets on a GPU node with all that Trainyard installs."""
CONTROLLERS = 40
"""Pods of controllers, of Flux and of monitoring itself."""
