"""Many runs at a time: cells, the local engine and the Ray engine.

In: training. Out: finished runs in a store; a failed one stops no other.
"""
