"""Results: runs to tables, scores, curves and intervals over seeds.

In: result files. Out: tables and estimates; nothing here draws or judges.
"""
