"""Hold the parts of the scanner of fact files: words, names, comments."""
