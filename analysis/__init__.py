"""Results and pictures from result files; never imports the agents.

One way from runs to what is published:

    scores -> bootstrap, curves -> numbers             tables and estimates with intervals
    numbers -> figures_*, look -> figures              FIGURES, drawn by `report`
    evidence -> part -> verdict -> claims_* -> reproduction    CLAIMS, judged in REPRODUCTION.md
    untrusted, texts -> row_checks, header_checks, statements, copies -> validate <- submission
    validate, clashes -> entries -> leaderboard_rows -> leaderboard_markdown, leaderboard_page
"""
