"""The only error class of the set-up."""


class SetupError(Exception):
    """An error that ends the set-up.

    ``str()`` is one sentence that says what is wrong and what to do; `details` are the last lines
    of the program that failed, or empty.
    """

    def __init__(self, sentence: str, details: str = "") -> None:
        super().__init__(sentence)
        self.details = details
