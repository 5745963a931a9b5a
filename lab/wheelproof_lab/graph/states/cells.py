"""Functions that views share: they read the objects of a run without a step."""

from typing import TypeGuard

from wheelproof_explore.runtime.model import SharedObject


def value_in(cell: object) -> object:
    """Return the value of a cell."""
    assert _is_model(cell)
    return cell.state


def number_in(cell: object) -> int:
    """Return the number that a cell holds."""
    value = value_in(cell)
    assert isinstance(value, int)
    return value


def identity_of(model: object) -> int:
    """Return the number of a lock or cell."""
    assert _is_model(model)
    return model.number


def is_dict(value: object) -> TypeGuard[dict[object, object]]:
    """Tell whether a value is a dictionary."""
    return isinstance(value, dict)


def _is_model(value: object) -> TypeGuard[SharedObject[object]]:
    return isinstance(value, SharedObject)
