"""Tables, scores, learning curves and bootstrap intervals, computed from runs.

In: result files. Out: tables and estimates; figures and claims are in other folders.
"""
