"""Numbers and pictures from result files; never imports `baselines`."""
