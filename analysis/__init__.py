"""Numbers and pictures from result files; never imports the agents.

One way from runs to what is published:

    scores -> bootstrap, curves -> numbers             tables and estimates with intervals
    numbers -> figures_*, look -> figures              FIGURES, drawn by `report`
    evidence -> verdict -> claims_* -> reproduction    CLAIMS, judged in REPRODUCTION.md
    untrusted -> row_checks, header_checks -> validate <- submission      strangers' folders
    entries -> leaderboard_rows -> leaderboard_markdown, leaderboard_page <- page/
"""
