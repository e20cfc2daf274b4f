"""One folder a study: what it scores, computes and claims, with the numbers that its paper prints."""

import importlib

from ..params import read
from ..runs import plan
from ..runs.run import Run
from ..system.paths import root
from ..system.studies import FOLDER, studies


def planned(notebook: str, profile: str = "reference") -> list[Run]:
    """The runs that a notebook asks for; none if its study has no module ``grids``.

    Parameters
    ----------
    notebook : such as ``10_surface_benchmark``
    profile : str

    Returns
    -------
    list of Run
    """
    [key] = [key for key, study in studies().items() if notebook in study["notebooks"]]
    if not (FOLDER / key / "grids.py").exists():
        return []
    parameters = read(root() / "params" / f"{notebook}.yaml", profile)
    grids = importlib.import_module(f"{__name__}.{key}.grids").grids(parameters)
    return [run for chosen in grids.values() for run in plan(**{k: v for k, v in chosen.items() if k != "store"})]


def notebooks() -> list[str]:
    """All notebooks that belong to a study."""
    return sorted(name for study in studies().values() for name in study["notebooks"])
