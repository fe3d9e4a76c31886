"""pacbench"""
