"""Networks with hand-written gradients, and the replay buffer.

In: torch alone. Out: parts of agents and bonuses.
"""
