"""Training: a schedule, a task's batches and losses, checkpoints that a killed training resumes."""
