"""One folder as the walk meets it: its files by kind, the folders in it, and the runs found in those."""

import os
from dataclasses import dataclass, field

from loganalyst.opening import LEADS_OUT
from loganalyst.sources.discovery import filenames
from loganalyst.sources.discovery.filenames import Kind

_ML_AGENTS = "run_logs"  # the folder by which runs of Unity's ML-Agents are known
_MMENGINE = ("vis_data", "config.py")  # the folder and the file into which MMEngine writes all settings of a run
_METRICS, _SETTINGS = "metrics", "settings"  # below an MLflow run a file's folder says its kind, not its name
_BY_FOLDER = frozenset({_METRICS, _SETTINGS})


@dataclass(slots=True)
class Group:
    """Paths of files that belong together, by kind; each of the `curves` with its inode."""

    curves: list[tuple[str, int]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    dumps: list[str] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)

    def take(self, other: "Group") -> None:
        """Add the files of `other`."""
        self.curves += other.curves
        self.logs += other.logs
        self.tables += other.tables
        self.settings += other.settings
        self.dumps += other.dumps
        self.checkpoints += other.checkpoints
        self.ignored += other.ignored
        self.unread += other.unread

    def files(self) -> list[str]:
        """The files that are read."""
        found = self.logs + self.tables + self.settings + self.dumps
        return [*found, *(path for path, _ in self.curves)] if self.curves else found


@dataclass(slots=True)
class Candidate:
    """A possible run. `sure`: its logger says so; `text`: it has logs and no metrics; `log`: it is the logs of one job
    in a folder with logs of others.
    """

    root: str
    depth: int
    group: Group
    sure: bool = False
    text: bool = False
    log: bool = False


@dataclass(slots=True)
class Folder:
    """A folder being walked. `held` is the only run found below it so far; `several`: there were more, and each further
    one is yielded at once. `marked`: a logger marked the folder as a run.
    """

    path: str
    name: str
    depth: int
    group: Group = field(default_factory=Group)
    notes: list[str] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)
    outward: list[str] = field(default_factory=list)  # links to folders outside of the root
    inner: list[str] = field(default_factory=list)  # names not walked yet, the last one first
    marked: bool = False
    writers: frozenset[str] = frozenset()
    mode: str = ""
    held: Candidate | None = None
    several: bool = False
    adapters: list[Group] = field(default_factory=list)  # of folders below it that hold only an adapter
    claims: bool = False  # it is a run by the files directly in it

    def mode_of(self, inner: str) -> str:
        """The mode of the folder `inner`: which kind the files there have, if this is an MLflow run."""
        if self.mode in _BY_FOLDER:
            return self.mode
        return {"metrics": _METRICS, "params": _SETTINGS, "tags": _SETTINGS}.get(inner, "") if self.mode else ""


def scan(
    path: str, name: str, depth: int, mode: str, *, real_root: str, links: set[str], folder_links: bool = True
) -> Folder:
    """List the folder `path`. Links to folders are not followed; without `folder_links` they are not listed either.
    Links to files are followed within `real_root`, and added to `links`. Raises OSError.
    """
    folder = Folder(path, name, depth, mode=mode)
    seen: set[str] = set()
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if is_walked(entry.name, name):
                    folder.inner.append(entry.name)
            elif entry.is_symlink():
                if not os.path.isdir(entry.path):  # unlike entry.is_dir() it does not raise for circular links
                    _add_link(folder, entry, real_root, links)
                elif folder_links:
                    _add_folder_link(folder, entry, real_root)
            else:
                if entry.name in filenames.MARKER_FILES:
                    seen.add(entry.name)
                _add(folder, entry)
    folder.inner.sort(key=lambda inner: (inner == filenames.LAST_FOLDER, inner), reverse=True)
    _mark(folder, seen)
    return folder


def is_walked(inner: str, folder: str) -> bool:
    """Whether the folder `inner` in `folder` may hold a part of a run."""
    hidden = inner.startswith(".") and inner not in filenames.HIDDEN
    return not hidden and inner not in filenames.SKIPPED_FOLDERS and not (inner == "code" and folder == "files")


def _add(folder: Folder, entry: "os.DirEntry[str]") -> None:
    kind = _kind(folder, entry.name)
    if kind:
        why = "" if entry.is_file(follow_symlinks=False) else "is no regular file"
        if not entry.name.isascii() and not encodable(entry.name):
            why = "its name is not valid UTF-8"
        if why:
            folder.group.unread.append((entry.path, why))
        else:
            _put(folder, kind, entry.path, entry.inode())


def _kind(folder: Folder, name: str) -> Kind:
    if folder.mode in _BY_FOLDER:
        return Kind.NOTHING if name.startswith(".") else Kind.CURVES if folder.mode == _METRICS else Kind.SETTINGS
    if name.endswith(".parquet") and filenames.history_of(folder.name):
        return Kind.CURVES
    if name.isdecimal() and filenames.is_of_logs(folder.name):
        return Kind.LOG
    return Kind.SETTINGS if (folder.name, name) == _MMENGINE else filenames.kind(name)


def _put(folder: Folder, kind: Kind, path: str, inode: int) -> None:
    group = folder.group
    match kind:
        case Kind.CURVES:
            group.curves.append((path, inode))
        case Kind.LOG:
            group.logs.append(path)
        case Kind.SETTINGS:
            group.settings.append(path)
        case Kind.TABLE:
            group.tables.append(path)
        case Kind.DUMP:
            group.dumps.append(path)
        case Kind.CHECKPOINT:
            group.checkpoints.append(path)
        case Kind.NOTES:
            folder.notes.append(path)
        case Kind.DATABASE:
            folder.databases.append(path)
        case _:
            pass


def encodable(name: str) -> bool:
    """Whether a file's name is valid text (other bytes than UTF-8 become lone surrogates)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _add_link(folder: Folder, entry: "os.DirEntry[str]", real_root: str, links: set[str]) -> None:
    """A link to no folder is read if it leads to settings, or to a file that the walk does not meet itself."""
    group = folder.group
    if not (kind := _kind(folder, entry.name)):
        return
    target = os.path.realpath(entry.path)
    within = os.path.relpath(target, real_root)
    if within.startswith(os.pardir):
        group.unread.append((entry.path, LEADS_OUT))
    elif os.path.exists(target) and not os.path.isfile(target):
        group.unread.append((entry.path, "is no regular file"))
    elif kind in {Kind.CURVES, Kind.LOG} and os.path.exists(target) and _walk_meets(within):
        group.ignored.append(f"{entry.path}: a link to {target}")
    else:
        links.add(entry.path)
        _put(folder, kind, entry.path, entry.inode())


def _add_folder_link(folder: Folder, entry: "os.DirEntry[str]", real_root: str) -> None:
    """No link to a folder is followed. A link out of the root leads to files that the walk does not meet elsewhere."""
    if os.path.relpath(os.path.realpath(entry.path), real_root).startswith(os.pardir):
        folder.outward.append(entry.path)
    else:
        folder.group.ignored.append(f"{entry.path}: a link to another folder")


def _walk_meets(within: str) -> bool:
    """Whether the walk meets this file by itself."""
    *folders, name = within.split(os.sep)
    return all(map(is_walked, folders, ["", *folders])) and filenames.kind(name) is not Kind.NOTHING


def _mark(folder: Folder, seen: set[str]) -> None:
    """Recognise the runs of some loggers by the files and folders in them."""
    group, inner = folder.group, set(folder.inner)
    mlflow = "meta.yaml" in seen
    if mlflow and inner & {"metrics", "params", "tags"} and not folder.name.startswith("m-"):  # m-…: a logged model
        folder.mode = "run"
        group.settings = [path for path in group.settings if os.path.basename(path) != "meta.yaml"]
        group.curves.append((os.path.join(folder.path, "meta.yaml"), 0))  # without metrics it is a run too
    elif mlflow:
        folder.inner = [name for name in folder.inner if name != "models"]
    ray = seen & {"params.json", "params.pkl"} and seen & {"result.json", "progress.csv"}
    yolo = seen & {"args.yaml", "opt.yaml"} and "results.csv" in seen
    hugging_face = "trainer_state.json" in seen and not folder.name.startswith("checkpoint-")
    binary = any(path.endswith(".wandb") for path, _ in group.curves)
    own = inner & {filenames.HYDRA, _ML_AGENTS} or filenames.is_run(folder.name) or folder.mode == "run"
    folder.marked = bool(own or ray or yolo or hugging_face or binary)
    folder.claims = folder.marked or bool(group.curves)
    if ray and {"result.json", "progress.csv"} <= seen:
        _leave_out_copy(folder)
    if inner and group.curves:
        folder.writers = writers(group)
    _report_outward_links(folder)


def _report_outward_links(folder: Folder) -> None:
    """A link out of the root is a gap if a run, or a part of one, may lie behind it. Links to data and the like are
    not.
    """
    for path in folder.outward:
        name = os.path.basename(path)
        if filenames.is_part(name, folder.name) or filenames.is_run(name) or not (folder.depth or folder.claims):
            folder.group.unread.append((path, LEADS_OUT))
        else:
            folder.group.ignored.append(f"{path}: {LEADS_OUT}")


def writers(group: Group) -> frozenset[str]:
    """The processes that wrote its event files."""
    return frozenset(w for path, _ in group.curves if (w := filenames.writer(os.path.basename(path))))


def _leave_out_copy(folder: Folder) -> None:
    """Ray writes the same rows into two files. One is left out, unless the other is empty."""
    rows, copy = (os.path.join(folder.path, name) for name in ("result.json", "progress.csv"))
    if os.path.getsize(rows):
        folder.group.curves = [(path, inode) for path, inode in folder.group.curves if path != copy]
        folder.group.ignored.append(f"{copy}: the rows of {rows} once more")
