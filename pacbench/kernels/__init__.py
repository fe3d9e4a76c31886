"""PAC operators."""
