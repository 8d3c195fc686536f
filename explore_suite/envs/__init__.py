"""The environments: one file per domain, each a thin adapter around dm_control's own task.

In: gymnasium, dm_control, MuJoCo, NumPy. Out: the classes that `gymnasium.make` builds.
"""
