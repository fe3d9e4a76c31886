"""PAC's own methods, as the harness compares them."""
