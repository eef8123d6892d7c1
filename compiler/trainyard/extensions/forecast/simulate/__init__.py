"""What Kueue will do with the jobs of a cluster: a simulation of its admission, and a verdict for each job.

The facts are those of Kueue 0.19.2 with its released configuration, read in its source; each module names the files
that it follows. ``docs/simulate.md`` says what is modelled, what is not, and how often a real Kueue decided the same.

The algorithm is in ``simulator`` (cycle after cycle), ``admission`` (one cycle), ``preemption``, ``topology`` and
``quota``, on the ``objects`` of Kueue and the ``state`` of what is admitted. What makes it fast is beside it: counts of
pods by domain in ``counts``, and at the end of a module what it keeps. ``reading`` and ``compiled`` make its input;
``forecasts`` runs it for the orders in which jobs may come, ``reasons`` and ``witness`` say why and where, and
``verdict`` has what is said.
"""
