"""What the scanner of fact files is made of: words, names, comments."""
