"""Sections on profiles: groups, functions, call sites, who pays."""
