"""Commands that need no agent: list, doctor, watch, play, replay; and what all commands share.

In: everything of explore_suite. Out: console.py, which the commands of other packages import too.
"""
