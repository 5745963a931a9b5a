"""Programs that belong to no component: classics, conditions, a queue of TLC."""
