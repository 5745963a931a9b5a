"""The one error of the set-up."""


class SetupError(Exception):
    """The set-up cannot go on.

    ``str()`` is one sentence that says what is wrong and what to do; `details` are the last lines
    of the program that failed, or empty.
    """

    def __init__(self, sentence: str, details: str = "") -> None:
        super().__init__(sentence)
        self.details = details
