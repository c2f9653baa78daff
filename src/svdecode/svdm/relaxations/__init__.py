"""Xi's convex stand-ins for the bilinear constraints (2007, Part IV), as schemes of the outer loop.

They model small instances in cvxpy, which the extra `svdecode[oracle]` installs.
"""
