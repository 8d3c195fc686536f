"""Networks with hand-written gradients, and the replay buffer.

In: torch, and the types of baselines/agent.py. Out: parts of agents and bonuses.
"""
