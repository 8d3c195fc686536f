"""Submissions: their format, and the checks that a stranger's folder must pass.

In: stats, the run format and its traces. Out: a report of every problem, or runs to be shown.
"""
