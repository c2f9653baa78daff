"""Support Vector Decomposition Machines."""
