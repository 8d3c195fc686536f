"""Commands of the analysis: report, leaderboard, submit, validate.

In: everything of analysis. Out: nothing is imported by others.
"""
