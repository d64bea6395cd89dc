"""Validation of rule files: static checks and plays under limits."""
