"""The reference agents, one idea per file; AGENTS in baselines/__init__.py names them.

In: nn, bonuses and the protocol of baselines/agent.py. Out: classes that act, observe and update.
"""
