"""How good answers are, measured against what is true."""
