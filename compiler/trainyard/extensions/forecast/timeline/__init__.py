"""When the jobs of a cluster start and end: Kueue's admission, simulated over time.

All jobs are submitted when the timeline begins. Each runs as long as it is expected to; pools of Capacity Blocks open
and close; a preempted job goes on from its last checkpoint. ``docs/simulate.md`` says what is modelled, and what not.
"""
