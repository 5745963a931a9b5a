"""The same as tests: one decorated, one that draws how much is withdrawn as well."""

import account
import hypothesis
from hypothesis import strategies as st

from wheelproof_explore import check_drawn, every_interleaving


@every_interleaving
def test_two_customers() -> None:
    """Every order of what two customers do."""
    account.two_customers(account.CarefulAccount(10))


@hypothesis.settings(deadline=None, max_examples=20)
@hypothesis.given(st.data(), st.integers(0, 20))
def test_any_balance(data: st.DataObject, balance: int) -> None:
    """A balance and an order of what two customers do, drawn and shrunk together."""
    check_drawn(lambda: account.two_customers(account.CarefulAccount(balance)), data)
