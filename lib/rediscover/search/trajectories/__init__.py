"""Right-hand sides from trajectories: integral forms, sparse regression, multiple shooting."""
