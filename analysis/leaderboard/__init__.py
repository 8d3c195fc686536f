"""The leaderboard: its methods, their rows and ranks, as Markdown and as one HTML page.

In: stats, figure styles and accepted submissions. Out: the files that people read.
"""
