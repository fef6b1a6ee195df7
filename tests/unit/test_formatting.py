"""Numbers as readers say them."""

import numpy as np

from analysis.core.formatting import SUPERSCRIPT, at_most, unbroken

DIGITS = {superscript: chr(digit) for digit, superscript in SUPERSCRIPT.items()}


def test_an_error_is_said_by_one_digit_that_it_does_not_exceed():
    for error in [*10 ** np.random.default_rng(0).uniform(-14, 1, 500), 1e-6, 1e-3, 0.0098, 0.95, 9.7]:
        words = at_most(float(error))
        power = words.startswith("10") and not words.isdecimal()
        bound = 10.0 ** int(words[2:].translate(DIGITS)) if power else float(words)
        assert error <= bound * (1 + 1e-9)
        assert bound < 10.1 * error
        assert power == (bound < 0.99e-6)
        assert len(words.replace("0", "").replace(".", "")) == 1 or power
    assert at_most(0) == "0"


def test_a_number_keeps_its_unit_on_the_line_and_nothing_else_is_changed():
    text = "95 % intervals: 0.25 nats, 3 points, 2 percent, 512 MiB in 20 ms; a % of 5 seeds"
    kept = unbroken(text)
    assert kept.replace("\u00a0", " ") == text
    assert kept.split(" ") == [
        "95\u00a0%", "intervals:", "0.25\u00a0nats,", "3\u00a0points,", "2", "percent,", "512\u00a0MiB", "in",
        "20\u00a0ms;", "a", "%", "of", "5", "seeds",
    ]  # fmt: skip
    assert unbroken(kept) == kept
