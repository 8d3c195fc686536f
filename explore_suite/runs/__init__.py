"""Runs: the protocol that makes them, the file format, the store, and what proves them.

In: tasks and environments. Out: files that anybody can read without this package.
"""
