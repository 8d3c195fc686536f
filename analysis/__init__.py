"""Numbers and pictures from result files; never imports the agents.

The rooms, each of which may import those before it: `stats` (numbers), `figures`, `claims` (the
paper's, judged), `submissions` (checks of strangers' folders), `leaderboard`, `cli` (commands).
"""
