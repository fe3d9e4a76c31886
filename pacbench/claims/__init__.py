"""The paper's claims as data, and whether records bear them out."""
