"""Networks that this project trained: their files, and what to do where one is missing."""

import functools
from dataclasses import dataclass
from pathlib import Path

from ..search.networks.network_layers import Weights, read
from ..system.file_digest import file_digest
from ..system.paths import user_cache
from . import Method

FOLDER = Path(__file__).with_name("weights")


@dataclass(frozen=True)
class Trained(Method):
    """Base of the methods with such a network.

    Attributes
    ----------
    weights : file of a training of your own; by default the one that comes with this package or, where none does, the
        one that ``make pretrain`` left in the user's cache. Both have a card and a log of their training in
        ``methods/weights``.
    sha256 : of that file, so that a result names the weights that made it. Another training has another one.
    """

    weights: str | None = None
    sha256: str = ""

    @property
    def path(self) -> Path:
        packaged = FOLDER / f"{self.name}.npz"
        if self.weights:
            return Path(self.weights)
        return packaged if packaged.is_file() else training_folder(self.name) / "weights.npz"

    def available(self) -> str | None:
        if not self.path.is_file():
            where = f"at {self.weights}" if self.weights else "in the user's cache"
            return f"no network {where}: `make pretrain MODEL={self.name}` trains one (extra neural)"
        if (found := file_digest(self.path)) != self.sha256:
            return f"the SHA-256 of {self.path} is {found}, the setting sha256 says {self.sha256}: set it for this file"
        return super().available()

    def network(self) -> Weights:
        """The weights.

        Raises
        ------
        RuntimeError
            If the method is not available.
        """
        if reason := self.available():
            raise RuntimeError(f"{self.name}: {reason}")
        return loaded(self.path, self.sha256)


def training_folder(name: str) -> Path:
    """Where ``make pretrain`` keeps checkpoint, log and weights of a network."""
    return user_cache() / "networks" / name


@functools.lru_cache(maxsize=2)
def loaded(path: Path, sha256: str) -> Weights:
    """Weights of a file, kept in memory."""
    return read(path)
