"""Study influences on learning: conditioning, variances of counts, long chains, posteriors."""
