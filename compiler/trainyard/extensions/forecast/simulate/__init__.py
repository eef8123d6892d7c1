"""What Kueue will do with the jobs of a cluster: a simulation of its admission, and a verdict for each job.

The facts are those of Kueue 0.19.2 with its released configuration, read in its source; each module names the file that
it follows. ``docs/simulate.md`` says what is modelled, what is not, and how often a real Kueue decided the same.
"""
