"""How many random examples a test draws: few each day, thousands under ``HYPOTHESIS_PROFILE=thorough``."""

from hypothesis import settings

_USUAL = 100  # of the profiles for every day


def examples(number):
    """The number itself, or as many as the profile asks for where that is thorough."""
    asked = settings.default.max_examples
    return number if asked <= _USUAL else max(number, asked)
