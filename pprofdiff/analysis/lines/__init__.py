"""What each source line costs: lines, listings, and the frames behind them."""
