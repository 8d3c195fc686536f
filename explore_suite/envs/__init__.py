"""The environments, one file per domain: an adapter around dm_control's task, and a variant.

In: gymnasium, dm_control, MuJoCo, NumPy. Out: the classes that `gymnasium.make` builds.
"""
