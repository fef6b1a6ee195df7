"""What so many seeds can resolve: the power of a paired t test, and the smallest difference it is likely to find."""

import itertools
import math

import numpy as np
from scipy import special

# scipy's other parts take a quarter of the app's start to import, and few pages want them: where they are used.


def power_of(effect: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t test over n seeds finds a true mean difference of `effect`.

    sd: of the paired differences. The tail areas of the noncentral t with n - 1 degrees of freedom and
    noncentrality effect / sd * sqrt(n) (Cohen 1988, chapter 2), as an integral of the normal distribution
    over the chi that the sample's sd follows: error below 1e-8, also at the large noncentralities of
    two or three seeds, where scipy's nct gives NaN.
    """
    if n < 2 or not sd > 0 or not np.isfinite([effect, sd]).all():
        return float("nan")
    from scipy.integrate import quad

    df = n - 1
    critical = -float(special.stdtrit(df, alpha / 2))
    shift = abs(effect) / sd * np.sqrt(n)

    log_scale = (df / 2 - 1) * math.log(2) + math.lgamma(df / 2)

    def found(s: float) -> float:
        at = critical * s / math.sqrt(df)
        density = s ** (df - 1) * math.exp(-s * s / 2 - log_scale)
        return density * float(special.ndtr(shift - at) + special.ndtr(-shift - at))

    # Where the first tail falls from 1 to 0: the integrand bends there.
    bend = shift * np.sqrt(df) / critical
    top = math.sqrt(2 * special.gammainccinv(df / 2, 1e-14))
    points = sorted({float(np.clip(bend + d * np.sqrt(df) / critical, 0, top)) for d in (-8, 0, 8)})
    edges = [0.0, *points, top]
    parts = (quad(found, a, b, limit=200)[0] for a, b in itertools.pairwise(edges) if b > a)
    return float(min(sum(parts), 1))


def smallest_detectable(sd: float, n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The true mean difference that a two-sided paired t test over n seeds finds with chance `power`.

    sd: of the paired differences, whose unit the answer has. NaN for fewer than two seeds or no sd. An sd
    of three seeds is itself uncertain by half to six times (95 %), and so is what follows from it.
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha {alpha} and power {power}; expected 0 < alpha < power < 1.")
    if n < 2 or not sd > 0 or not np.isfinite(sd):
        return float("nan")
    from scipy.optimize import brentq

    top = 1.0
    while power_of(top, 1, n, alpha) < power:
        top *= 2
    return sd * float(brentq(lambda d: power_of(d, 1, n, alpha) - power, 0, top, xtol=1e-10))  # type: ignore[arg-type]
