"""The regression gate: is this version slower than that one, on a machine that is never quiet?"""
