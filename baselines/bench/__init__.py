"""`make bench`: speed as ratios against peers and limits, measured in one run.

In: everything of baselines, and the peers of the extra `bench`. Out: bench.json.
"""
