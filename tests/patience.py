"""How long a test waits for something that must happen: a loaded machine takes longer, and is no failure."""

PATIENCE_SECONDS = 120.0
