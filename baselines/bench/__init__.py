"""`make bench`: speed relative to other libraries and to limits, all measured in the same run.

In: everything of baselines, and the peers of the extra `bench`. Out: bench.json.
"""
