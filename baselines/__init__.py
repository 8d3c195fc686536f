"""Reference agents."""
