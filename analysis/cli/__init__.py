"""Commands of the analysis: report, compare, leaderboard, submit, validate, weights.

In: everything of analysis. Out: nothing is imported by others.
"""
