"""One training run that survives interruptions: run, checkpoints, and what a finished run leaves.

In: the loop of baselines/runner.py and the settings. Out: the files of a run in a store.
"""
