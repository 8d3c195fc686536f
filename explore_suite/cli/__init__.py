"""Commands of the benchmark itself: list, doctor, watch, replay; and text for terminals.

In: everything of explore_suite. Out: nothing but the console is imported by others.
"""
