"""Li & Li, *On the Tradeoff Between Privacy and Utility in Data Publishing*, KDD 2009."""
