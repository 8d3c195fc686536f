"""Tools for adding a task: measure it, prove that its goal can be reached, draw it.

In: tasks and environments. Out: the files of explore_suite/data and docs/tasks.
"""
