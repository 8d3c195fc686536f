"""Submissions: their format, and the checks that a stranger's folder must pass.

In: stats and the run format. Out: a report of every problem, or runs that can be shown.
"""
