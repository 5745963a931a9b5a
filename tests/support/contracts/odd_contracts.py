"""Contracts that are no theorems of the timer: how the prover answers where there is no proof."""


def nobody_proves_it_in_time(x: int, y: int, z: int) -> int:
    """Fermat's theorem for cubes: true, and out of the solver's reach.

    The order is asked for in the body: a precondition might not be met before the time is up.

    post: _ != 0
    """
    return x * x * x + y * y * y - z * z * z if 0 < x < y < z else 1


def vacuous(number: int) -> int:
    """No number meets the preconditions.

    pre: number > 0
    pre: number < 0
    post: _ == 17
    """
    return number


def false_for_one_number(number: int) -> int:
    """A postcondition with a single counterexample among all integers.

    post: _ != 123_456_789
    """
    return 3 * number


def raises_for_zero(number: int) -> int:
    """A body that raises where the contract promises a value.

    post: _ <= 100
    """
    return 100 // number
