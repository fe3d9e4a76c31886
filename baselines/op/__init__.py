"""Yardsticks: operations of torch that the times of PAC operators are held against."""
