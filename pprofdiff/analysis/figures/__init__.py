"""Figures: each is declared once, and what a comparison knows of one is an estimate."""
