"""State of the system: files, names of files, environment variables, the working directory."""

from wheelproof_lab.worlds.constructs.construct import Construct, made_before


def _files(name: str, made: str, read: str, write: str) -> Construct:
    """Return a row that has a folder of its own, `HERE`."""
    before = f"HERE = new_folder(__file__, {name!r})\n{made}".strip()
    return made_before(f"system: {name}", before, read, write)


def _variable(name: str, read: str, write: str) -> Construct:
    return made_before(f"system: {name}", "os.environ['MADE_N'] = '0'", read, write)


_FILE = "s = HERE / 'n'; s.write_text('0')"
_JSON = "s = HERE / 'n'; s.write_text('[0]')"
_FOLDER = "s = HERE / 'names'; s.mkdir()"
_OPEN = "s = open(HERE / 'n', 'w+'); s.write('0'); s.flush()"
_CONNECTION = """s = sqlite3.connect(HERE / 'n', check_same_thread=False, isolation_level=None)
s.execute('create table t (n)')
s.execute('insert into t values (0)')"""
_FULL = "s = HERE / 'names'; s.mkdir()\nfor x in range(20): (s / str(x)).touch()"
_FOLDERS = "for x in range(20): (HERE / str(x)).mkdir()\nos.chdir(HERE / '0')"
_RELATIVE = "os.chdir(HERE); (HERE / 'n').write_text('0')"

OF_THE_SYSTEM: tuple[Construct, ...] = (
    _files("open", _FILE, "read_by_open(s)", "write_by_open(s, N)"),
    _files("path", _FILE, "int(s.read_text())", "s.write_text(str(N))"),
    _files("bytes of a path", _FILE, "int(s.read_bytes())", "s.write_bytes(b'%d' % N)"),
    _files("path that is relative", _RELATIVE, "read_by_open('n')", "write_by_open('n', N)"),
    _files("lines", _FILE, "read_lines(s)", "append_lines(s, N)"),
    _files("json", _JSON, "read_json(s)", "write_json(s, N)"),
    _files(
        "pickle",
        "s = HERE / 'n'; s.write_bytes(pickle.dumps(0))",
        "pickle.loads(s.read_bytes())",
        "s.write_bytes(pickle.dumps(N))",
    ),
    _files("calls of the system", _FILE, "read_by_system(s)", "write_by_system(s, N)"),
    _files(
        "file that takes the place of another", _FILE, "read_by_open(s)", "replace_by_rename(s, N)"
    ),
    _files(
        "copy of a file",
        f"{_FILE}\nfor x in range(20): (HERE / f't{{x}}').write_text(str(x))",
        "read_by_open(s)",
        "shutil.copyfile(HERE / f't{N}', s)",
    ),
    _files("file that is open", _OPEN, "read_open(s)", "write_open(s, N)"),
    _files("size", _FILE, "os.path.getsize(s) - 1", "os.truncate(s, N + 1)"),
    _files(
        "time of a change",
        "s = HERE / 'n'; s.touch(); os.utime(s, (0, 0))",
        "int(s.stat().st_mtime)",
        "os.utime(s, (N, N))",
    ),
    _files(
        "mode",
        "s = HERE / 'n'; s.touch(); s.chmod(0o600)",
        "s.stat().st_mode & 7",
        "s.chmod(0o600 + min(N, 7))",
    ),
    _files("link", "s = HERE / 'n'; s.symlink_to('0')", "read_link(s)", "write_link(s, N)"),
    _files(
        "names of files", _FOLDER, "len(os.listdir(s))", "[(s / str(x)).touch() for x in range(N)]"
    ),
    _files(
        "names by a path",
        _FOLDER,
        "len([*s.iterdir()])",
        "[(s / str(x)).mkdir(exist_ok=True) for x in range(N)]",
    ),
    _files(
        "glob",
        _FOLDER,
        "len([*s.glob('*')])",
        "[os.makedirs(s / str(x), exist_ok=True) for x in range(N)]",
    ),
    _files(
        "what exists",
        _FOLDER,
        "sum(os.path.exists(s / str(x)) for x in range(3))",
        "[(s / str(x)).touch() for x in range(N)]",
    ),
    _files(
        "files that are removed",
        _FULL,
        "20 - len(os.listdir(s))",
        "[(s / str(x)).unlink(missing_ok=True) for x in range(N)]",
    ),
    _files(
        "tree",
        f"{_FOLDER}; (HERE / 'empty').mkdir()",
        "len(os.listdir(s))",
        "[shutil.copytree(HERE / 'empty', s / str(x), dirs_exist_ok=True) for x in range(N)]",
    ),
    _files("temporary file", _FILE, "read_by_open(s)", "by_temporary_file(HERE, s, N)"),
    _files(
        "connection to a database",
        _CONNECTION,
        "s.execute('select n from t').fetchone()[0]",
        "s.execute('update t set n = ?', (N,))",
    ),
    _files("zip", "s = HERE / 'n'; write_zip(s, 0)", "read_zip(s)", "write_zip(s, N)"),
    _files(
        "working directory",
        _FOLDERS,
        "int(os.path.basename(os.getcwd()))",
        "os.chdir(HERE / str(N))",
    ),
    _variable("environ", "int(os.environ['MADE_N'])", "os.environ['MADE_N'] = str(N)"),
    _variable("getenv", "int(os.getenv('MADE_N', '0'))", "os.environ.update(MADE_N=str(N))"),
    _variable(
        "get and pop of environ",
        "int(os.environ.get('MADE_N', '0'))",
        "os.environ.pop('MADE_N', None); os.environ.setdefault('MADE_N', str(N))",
    ),
    _variable(
        "path with a variable",
        "int(os.path.expandvars('$MADE_N'))",
        "os.environ['MADE_N'] = str(N)",
    ),
)
