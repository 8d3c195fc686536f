"""Runs: the protocol by which they are made, their file format, their store and their traces.

In: tasks and environments. Out: files that anybody can read without this package.
"""
