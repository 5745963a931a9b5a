"""A view for tests of the graph engine itself."""

from wheelproof_lab.graph.states.views import NextStep, View


class PlainView(View):
    """The view whose labels are the threads and their steps in words."""

    def label(self, step: NextStep) -> str | None:
        """Return thread and operation."""
        return f"{step.thread}: {step.text}"
