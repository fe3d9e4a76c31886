"""Finding the parameters of methods that have none to learn: a grid, then ever finer steps."""
