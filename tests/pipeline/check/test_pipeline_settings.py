"""The user's configuration of Spark wins over that of the pipeline."""

import argparse
from pathlib import Path

import pytest

from wheelproof_spark.base.options import Topic, setting, source
from wheelproof_spark.base.session import chosen_settings

_JAVA = "spark.driver.extraJavaOptions"
_UI, _CODEC = "spark.ui.enabled", "spark.sql.parquet.compression.codec"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    return tmp_path / "spark-defaults.conf"


def test_without_a_choice_it_is_ours(conf: Path) -> None:
    assert not conf.exists()
    chosen = chosen_settings(None, progress=False, settings={})
    assert (chosen["spark.master"], chosen[_UI], chosen[_CODEC]) == ("local[*]", "false", "zstd")


@pytest.mark.parametrize("master", [None, "local[2]", "spark://host:7077"])
def test_only_a_java_of_our_own_is_frugal(conf: Path, master: str | None) -> None:
    del conf
    chosen = chosen_settings(master, progress=False, settings={})
    ours = master is None or master.startswith("local")
    assert ("TieredStopAtLevel=1" in chosen.get(_JAVA, "")) == ours
    users = chosen_settings(master, progress=False, settings={_JAVA: "-Xlog:gc"})
    assert users[_JAVA] == "-Xlog:gc"


def test_what_spark_defaults_says_is_left_to_spark(conf: Path) -> None:
    conf.write_text(f"# of the user\nspark.master  spark://host:7077\n{_UI}=true\n\nother 1\n")
    chosen = chosen_settings(None, progress=False, settings={_CODEC: "snappy"})
    assert not chosen.keys() & {"spark.master", _UI, "spark.driver.memory", "other"}
    assert chosen[_CODEC] == "snappy"
    assert chosen_settings("local[2]", progress=False, settings={})["spark.master"] == "local[2]"


def test_what_spark_submit_has_started_keeps_its_settings(
    conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not conf.exists()
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    chosen = chosen_settings(None, progress=False, settings={_UI: "true"})
    assert chosen == {_UI: "true"}


def test_a_setting_and_a_topic_are_read() -> None:
    assert setting("spark.a=b=c") == ("spark.a", "b=c")
    assert source("kafka://a:1,b:2/runs") == Topic("a:1,b:2", "runs")
    assert source("runs") == Path("runs")


@pytest.mark.parametrize("text", ["a=b", "spark.a", ""])
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="not like spark"):
        setting(text)


@pytest.mark.parametrize("text", ["kafka://a:1", "kafka:///t", "kafka://a:1/t/x"])
def test_what_is_no_source_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="not like kafka"):
        source(text)
