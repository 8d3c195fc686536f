"""The reference agents, one idea per file; AGENTS in baselines/__init__.py lists them.

In: nn, bonuses and the protocol of baselines/agent.py. Out: agent classes and their configs.
"""
