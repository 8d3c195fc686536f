"""Tools for maintainers: measure a task's returns, prove that its goal is reachable.

In: tasks and environments. Out: the files of explore_suite/data.
"""
