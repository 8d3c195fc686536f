"""Commands of the reference agents: train, sweep, verify, agents.

In: everything of baselines. Out: nothing is imported by others.
"""
