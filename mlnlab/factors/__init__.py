"""Factor graphs and Bayesian networks, and exact answers from them: eliminating variables, junction trees."""
