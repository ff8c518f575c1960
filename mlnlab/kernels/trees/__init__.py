"""Count the rows of a table that candidate splits of a decision tree tell apart, by bit columns."""
