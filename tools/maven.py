"""The build of the Java adapters by Maven, when their sources have changed."""

import os
import pwd
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from tools.checkout import Checkout, job_environment, writable_home
from tools.errors import SetupError
from tools.java import Java
from tools.processes import Job, last_lines, run_together
from tools.stamps import fingerprint, fingerprint_of_files, is_stamped, write_stamp
from tools.system_packages import Need, advice, choose_manager, trouble_with, try_install

_USUAL_FOLDERS = ("/opt/maven/bin", "/usr/share/maven/bin", "/opt/homebrew/bin", "/usr/local/bin")


def unbuilt_adapters(checkout: Checkout, java: Java) -> list[Path]:
    """Return the directories of the adapters whose sources or Java changed since their build."""
    projects = sorted(file.parent for file in (checkout.root / "adapters").glob("*/pom.xml"))
    return [one for one in projects if not is_stamped(_stamp(one), _sources(one, java))]


def ensure_maven(checkout: Checkout, java: Java) -> Path:
    """Return Maven's program; install it if none is found that works, and that is possible.

    Raises `SetupError` with the command to type.
    """
    environment = job_environment(checkout, java.home)
    found, trouble = _find(environment)
    if found is None:
        try_install(Need.MAVEN, checkout.root)
        found, trouble = _find(environment)
    if found is None:
        remedy = advice(Need.MAVEN, choose_manager(Need.MAVEN))
        raise SetupError(f"the Java adapters are built by Maven, and {trouble}; {remedy}")
    return found


def build(checkout: Checkout, adapters: Sequence[Path], maven: Path, java: Java) -> None:
    """Build the adapters in parallel; raise `SetupError` with Maven's last lines.

    Two Mavens that fill one repository may disturb each other, so a failed build is tried once
    more, alone.
    """
    failed = _build(checkout, adapters, maven, java, limit=os.cpu_count() or 1)
    again = _build(checkout, failed, maven, java, limit=1) if len(adapters) > 1 else failed
    for adapter, lines in again.items():
        name = adapter.relative_to(checkout.root)
        sentence = f"{name} could not be built; look at the network, the proxy and these lines"
        raise SetupError(sentence, lines)


def _build(
    checkout: Checkout, adapters: Iterable[Path], maven: Path, java: Java, limit: int
) -> dict[Path, str]:
    """Build the adapters and print each result; return the failed ones, with Maven's last lines."""
    before = {
        str(adapter.relative_to(checkout.root)): _sources(adapter, java) for adapter in adapters
    }
    if before:
        print(f"building with Maven: {', '.join(before)}", flush=True)
    mine = (str(maven), "-q", "-B", *_options(checkout), "-DskipTests", "package", "-f")
    jobs = [Job(name=name, command=(*mine, f"{name}/pom.xml")) for name in before]
    for name in before:
        _stamp(checkout.root / name).unlink(missing_ok=True)
    failed: dict[Path, str] = {}
    environment = job_environment(checkout, java.home)
    outcomes = run_together(jobs, limit=limit, directory=checkout.root, environment=environment)
    with closing(outcomes):
        for outcome in outcomes:
            name = outcome.job.name
            if outcome.exit_code == 0:
                write_stamp(_stamp(checkout.root / name), before[name])
                print(f"built {name}, {outcome.seconds:.0f} s", flush=True)
            else:
                failed[checkout.root / name] = last_lines(outcome.output)
    return failed


def proxy_settings(proxy: str, exceptions: str) -> str:
    """Return Maven's settings for a proxy address; Maven ignores the environment's proxy.

    `exceptions` has the form of ``no_proxy``.
    """
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    hosts = (entry.strip() for entry in exceptions.split(","))
    direct = "|".join(f"*{host}" if host.startswith(".") else host for host in hosts if host)
    fields = {
        "host": parts.hostname or "",
        "port": str(parts.port or 80),
        "username": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "nonProxyHosts": direct,
    }
    body = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items() if value)
    entries = "".join(
        f"<proxy><id>{protocol}</id><active>true</active><protocol>{protocol}</protocol>{body}</proxy>"
        for protocol in ("http", "https")
    )
    return f"<settings><proxies>{entries}</proxies></settings>\n"


def _options(checkout: Checkout) -> list[str]:
    """Return the options that make Maven use HOME and the proxy, which Java ignores."""
    home = writable_home()
    options: list[str] = []
    if home is None:
        options.append(f"-Dmaven.repo.local={checkout.root / 'build' / 'maven-repository'}")
    elif home != _java_user_home():
        options.append(f"-Dmaven.repo.local={home / '.m2' / 'repository'}")
    settings = None if home is None else home / ".m2" / "settings.xml"
    proxy = _first(os.environ, "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY")
    if settings is not None and settings.exists():
        options += ["--settings", str(settings)]
    elif proxy:
        settings = checkout.state / "maven-settings.xml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.touch(mode=0o600)
        settings.write_text(proxy_settings(proxy, _first(os.environ, "no_proxy", "NO_PROXY")))
        options += ["--settings", str(settings)]
    return options


def _java_user_home() -> Path | None:
    """Return the home directory that Java uses: from the user database, not from HOME."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    except KeyError:
        return None


def _first(environment: Mapping[str, str], *names: str) -> str:
    return next((environment[name] for name in names if environment.get(name)), "")


def _find(environment: Mapping[str, str]) -> tuple[Path | None, str]:
    """Return the program, or None and why there is none that works."""
    home = os.environ.get("MAVEN_HOME") or os.environ.get("M2_HOME")
    folders = [str(Path(home) / "bin")] if home else []
    folders += [os.environ.get("PATH", os.defpath), *_USUAL_FOLDERS]
    found = shutil.which("mvn", path=os.pathsep.join(folders))
    trouble = trouble_with(found or "mvn", environment) or ""
    return (None if found is None or trouble else Path(found)), trouble


def _stamp(adapter: Path) -> Path:
    # The stamp is in Maven's output, so deleting the output deletes the stamp.
    return adapter / "target" / "sources.stamp"


def _sources(adapter: Path, java: Java) -> str:
    return fingerprint(
        fingerprint_of_files(adapter, ("pom.xml", "src")),
        fingerprint_of_files(adapter.parent, _shared(adapter.parent)),
        str(java.release),
        str(adapter),
    )


def _shared(adapters: Path) -> list[str]:
    """Return the source folders that adapters share, which are not built by themselves."""
    folders = sorted(sources.parent for sources in adapters.glob("*/src"))
    return [folder.name for folder in folders if not (folder / "pom.xml").exists()]
