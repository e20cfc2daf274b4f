"""End-to-end transformer, NeSymReS and ODEFormer: their authors' inference, on weights that the user brings.

Neither weights nor packages are part of this library. They run in a process of their own, in the Python that has
them, since some of them need an older one than ours; PyTorch is not needed here.
"""

import functools
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..expressions import Expression, ExpressionError, parse
from ..problems import InitialValueProblem, Task, generator
from ..search.networks import inference
from ..system.file_digest import file_digest
from . import Budget, Candidate, Method, Unsupported
from .proged import error
from .tables import Tabular

BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
UNARY = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "neg": "neg"}
UNARY |= {name: name for name in ("abs", "sqrt", "log", "exp", "sin", "cos", "tan")}
POWERS = {"inv": -1, "pow2": 2, "pow3": 3}
NUMBERS = {"e": math.e, "pi": math.pi, "euler_gamma": float(np.euler_gamma)}


def from_prefix(text: str, inputs: Sequence[str]) -> Expression:
    """The expression of tokens in prefix order, comma-separated, as E2E and ODEFormer write their trees.

    Parameters
    ----------
    text : operators, numbers, and ``x_0``, ``x_1``, ...
    inputs : their names here

    Raises
    ------
    ExpressionError
        If a token is unknown, missing or left over.

    Examples
    --------
    >>> print(from_prefix("add,2.5,mul,x_1,inv,sin,x_0", ["u", "v"]))
    2.5 + v*(1/sin(u))
    """
    tokens = text.split(",")
    stack: list[tuple] = []
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place].strip()
        if len(stack) < (2 if token in BINARY else 1 if token in {*UNARY, *POWERS, "id"} else 0):
            raise ExpressionError(text, 0, f"{token} at place {place} lacks an argument")
        if token in BINARY:
            stack.append((BINARY[token], stack.pop(), stack.pop()))
        elif token in UNARY:
            stack.append((UNARY[token], stack.pop()))
        elif token in POWERS:
            base, power = stack.pop(), POWERS[token]
            stack.append(("/", (1,), base) if power < 0 else ("**", base, (power,)))
        elif token != "id":
            stack.append(leaf(text, token, inputs))
    if len(stack) != 1:
        raise ExpressionError(text, 0, f"{len(stack)} expressions instead of one")
    return Expression(stack[0])


def leaf(text: str, token: str, inputs: Sequence[str]) -> tuple:
    """The leaf of a token that is no operator."""
    if token in NUMBERS:
        return (NUMBERS[token],)
    if token.startswith("x_") and token[2:].isdigit() and int(token[2:]) < len(inputs):
        return (inputs[int(token[2:])],)
    try:
        value = float(token)
    except ValueError:
        raise ExpressionError(text, text.find(token), f"unknown token {token!r}") from None
    if not math.isfinite(value):
        raise ExpressionError(text, text.find(token), f"{token} is no finite number")
    return (int(token) if token.lstrip("+-").isdigit() else value,)


@functools.lru_cache
def importable(python: str, source: str | None, package: str) -> str | None:
    """None if a Python can import torch and a package, else the last line of what it says."""
    code = f"import sys; sys.path[:0] = {[source] if source else []!r}; import torch, {package}"
    try:
        done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as failed:
        return str(failed)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it failed"])[-1]


@dataclass(frozen=True)
class Pretrained(Method):
    """Base of the adaptors.

    Attributes
    ----------
    weights : path of the authors' file.
    sha256 : of that file, so that a result names the weights that made it.
    trust : True says that you know where the file is from: it is a pickle, which can run any code as it is loaded.
        Nothing is loaded before.
    python : the Python that has the package; None for the one that runs this.
    source : folder that holds the package, where it is not installed.
    """

    weights: str | None = None
    sha256: str | None = None
    trust: bool = False
    python: str | None = None
    source: str | None = None
    package: ClassVar[str] = ""
    obtain: ClassVar[str] = ""
    searches: ClassVar[bool] = True
    portable: ClassVar[bool] = False

    def available(self) -> str | None:
        if not self.weights:
            return f"needs weights and a package of its authors: {self.obtain}; then name weights and sha256"
        if not Path(self.weights).is_file():
            return f"no weights at {self.weights}: {self.obtain}"
        if (found := file_digest(Path(self.weights))) != self.sha256:
            return f"the SHA-256 of {self.weights} is {found}, the setting sha256 says {self.sha256}"
        if not self.trust:
            return f"{self.weights} is a pickle, which can run any code as it is loaded: trust=True, if you do"
        python = self.python or sys.executable
        if reason := importable(python, self.source, self.package):
            return f"{python} cannot import torch and {self.package} ({reason}): {self.obtain}"
        return None

    def infer(self, data: Mapping[str, Any], settings: Mapping[str, Any], seconds: float, seed: int) -> list:
        """Candidates as the package writes them, its first one first."""
        if reason := self.available():
            raise RuntimeError(f"{self.name}: {reason}")
        request = {"weights": str(Path(str(self.weights)).resolve()), "source": self.source}
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder) / "data.npz", **dict(data))
            text = json.dumps({**request, "settings": dict(settings), "seed": seed})
            (Path(folder) / "request.json").write_text(text, encoding="utf-8")
            command = [self.python or sys.executable, "-I", inference.__file__, self.name, folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
            if done.returncode:
                raise RuntimeError(f"{self.name}: the package failed: {done.stderr.strip()[-500:]}")
            return json.loads((Path(folder) / "answer.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class E2e(Pretrained, Tabular):
    """The end-to-end transformer, which writes whole expressions, numbers included.

    Inputs are standardised and cut into bags, each is decoded, the best candidates refined by BFGS: all by the
    package, whose order stands. The loss is the mean squared error on the table. The budget's seconds limit it.

    Attributes
    ----------
    max_input_points : rows of a bag.
    n_trees_to_refine : candidates that are refined.

    References
    ----------
    P.-A. Kamienny, S. d'Ascoli, G. Lample, F. Charton, End-to-end symbolic regression with transformers, NeurIPS 2022
    """

    max_input_points: int = 200
    n_trees_to_refine: int = 100
    max_rows: int | None = 10_000
    name: ClassVar[str] = "e2e"
    reference: ClassVar[str] = "Kamienny et al., End-to-end symbolic regression with transformers (NeurIPS 2022)"
    package: ClassVar[str] = "symbolicregression"
    obtain: ClassVar[str] = (
        "clone github.com/facebookresearch/symbolicregression (commit c4144c9) as source, with its own Python 3.7 and "
        "torch 1.11 as python; weights are dl.fbaipublicfiles.com/symbolicregression/model1.pt"
    )

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        settings = {"max_input_points": self.max_input_points, "n_trees_to_refine": self.n_trees_to_refine}
        seed = int(rng.integers(2**31))
        columns = dict(zip(task.inputs, task.X.T, strict=True))
        found = [
            from_prefix(text, task.inputs)
            for text in self.infer({"X": task.X, "y": task.y}, settings, budget.seconds, seed)
        ]
        return [Candidate({task.output: str(form)}, error(form, columns, task.y), form.size) for form in found]


INPUTS = 3  # of NeSymReS, x_1 to x_3
TOO_LARGE = 200  # from here on its fit drops a row from the inputs, but not from the targets
# Its settings for the fit, but for the number of starts.
BFGS: dict[str, Any] = {"activated": True, "add_coefficients_if_not_existing": False, "normalization_o": False}
BFGS |= {"idx_remove": True, "normalization_type": "MSE", "stop_time": 1e9}


@dataclass(frozen=True)
class Nesymres(Pretrained, Tabular):
    """NeSymReS, which writes skeletons in at most three inputs.

    A beam search writes them, BFGS fits their constants to the mean squared error, and the smallest comes first: all
    by the package, whose loss, in single precision, stands. What has no finite loss is left out. The budget's
    seconds limit it.

    It learned from inputs in [-10, 10] and targets up to 5e4 in size: beyond, it is out of its training. Its fit
    drops rows with an input of 200 or more from the inputs but not from the targets, a defect of the release. Here
    such rows are left out of both before it, and counted in ``notes["rows_too_large"]``. In its fit an input is 1
    where the table has none or only zeros, and so it is in what comes back.

    Attributes
    ----------
    beam_size : skeletons; 32 as in the release's benchmark, which has 2 as its default.
    n_restarts : starts of each fit.
    max_rows : 500 as in the release's example; the fit writes out a sum over all rows.
    configuration : folder of the release's ``config.yaml`` and ``eq_setting.json``, which must be those of the
        weights; None for ``../jupyter/100M`` of ``source``.

    References
    ----------
    L. Biggio et al., Neural symbolic regression that scales, ICML 2021
    """

    beam_size: int = 32
    n_restarts: int = 10
    max_rows: int | None = 500
    configuration: str | None = None
    name: ClassVar[str] = "nesymres"
    reference: ClassVar[str] = "Biggio et al., Neural symbolic regression that scales (ICML 2021)"
    package: ClassVar[str] = "nesymres.architectures.model"
    obtain: ClassVar[str] = (
        "clone github.com/SymposiumOrganization/NeuralSymbolicRegressionThatScales (commit 09f5af4), its folder src is "
        "source, with its own Python 3.8, torch 1.8 and pytorch-lightning 1.2 as python (pip install src brings "
        "hydra-core, ordered_set and the rest); weights are "
        "huggingface.co/TommasoBendinelli/NeuralSymbolicRegressionThatScales, file 100M.ckpt"
    )

    @property
    def folder(self) -> Path:
        """Where the release's two files of settings are."""
        return Path(self.configuration or Path(self.source or ".").parent / "jupyter" / "100M").resolve()

    def available(self) -> str | None:
        if reason := super().available():
            return reason
        missing = [name for name in ("config.yaml", "eq_setting.json") if not (self.folder / name).is_file()]
        return f"no {missing[0]} in {self.folder}: name its folder as configuration" if missing else None

    def search(self, task: Task, *, budget: Budget, rng: np.random.Generator) -> list[Candidate]:
        if len(task.inputs) > INPUTS:
            given = f"{task.output} has {len(task.inputs)}"
            raise Unsupported(f"{self.name} reads at most {INPUTS} inputs, {given}: leave some out")
        kept = (task.X < TOO_LARGE).all(axis=1)
        if kept.sum() < 2:
            raise Unsupported(f"{self.name} needs two rows with inputs below {TOO_LARGE}, {task.output} has fewer")
        X, left_out = task.X[kept], int(len(task.y) - kept.sum())
        bfgs = BFGS | {"n_restarts": self.n_restarts}
        settings = {"beam_size": self.beam_size, "bfgs": bfgs, "configuration": str(self.folder)}
        seed = int(rng.integers(2**31))
        texts = self.infer({"X": X, "y": task.y[kept]}, settings, budget.seconds, seed)
        inputs = [name if column.any() else 1 for name, column in zip(task.inputs, X.T, strict=True)]
        found = [(from_infix(text, inputs), loss) for text, loss in texts]
        notes = {"rows_too_large": left_out} if left_out else {}
        return [Candidate({task.output: str(form)}, loss, form.size, notes=notes) for form, loss in found]


def from_infix(text: str, inputs: Sequence[str | int]) -> Expression:
    """The expression of a text in x_1, x_2, x_3, as NeSymReS writes it.

    Parameters
    ----------
    text : as SymPy prints it
    inputs : at most three, for each its name here or a number; those that are not there are 1

    Raises
    ------
    ExpressionError
        If it is no expression in these.

    Examples
    --------
    >>> print(from_infix("1.5*x_1**2 + ln(x_2)*x_3", ["u", "v"]))
    1.5*u**2 + log(v)*1
    """
    names = [f"x_{k + 1}" for k in range(INPUTS)]
    given = [*inputs, *[1] * (INPUTS - len(inputs))]
    return parse(text, names).substitute(dict(zip(names, given, strict=True)))


@dataclass(frozen=True)
class Odeformer(Pretrained):
    """ODEFormer, which writes a system of equations from one trajectory.

    Times are rescaled to 1..10 and states by their first values; candidates are sorted by the error of their own
    trajectories: all by the package. The loss is not known. The budget's seconds limit it.

    Attributes
    ----------
    beam_size : samples.
    beam_temperature : of their draw.

    References
    ----------
    S. d'Ascoli et al., ODEFormer: symbolic regression of dynamical systems with transformers, ICLR 2024
    """

    beam_size: int = 50
    beam_temperature: float = 0.1
    name: ClassVar[str] = "odeformer"
    reference: ClassVar[str] = "d'Ascoli et al., ODEFormer (ICLR 2024)"
    accepts: ClassVar[tuple[type, ...]] = (InitialValueProblem,)
    package: ClassVar[str] = "odeformer"
    obtain: ClassVar[str] = (
        "pip install --no-deps odeformer==0.1.7, with torch, numexpr, regex, gdown, requests, setproctitle, seaborn; "
        "weights are drive.google.com file 1L_UZ0qgrBVkRuhg5j3BQoGxlvMk_Pm1W (odeformer.pt)"
    )

    def answer(self, problem: Any, budget: Budget, seed: int) -> list[Candidate]:
        settings = {"beam_size": self.beam_size, "beam_temperature": self.beam_temperature}
        draw = int(generator(seed, problem.id, self.name).integers(2**31))
        data = {"t": problem.times(), "states": problem.observed(seed)}
        systems = [system(text, problem.outputs) for text in self.infer(data, settings, budget.seconds, draw)]
        return [Candidate(found, complexity=sum(parse(text).size for text in found.values())) for found in systems]


def system(text: str, states: Sequence[str]) -> dict[str, str]:
    """Right-hand sides of a system in prefix order, with bars between the equations.

    Raises
    ------
    ExpressionError
        If there are not as many equations as states, or one cannot be read.

    Examples
    --------
    >>> system("mul,-0.5,x_1,|,x_0", ["u", "v"])
    {'u': '-0.5*v', 'v': 'u'}
    """
    parts = [part.strip(",") for part in text.split("|")]
    if len(parts) != len(states):
        raise ExpressionError(text, 0, f"{len(parts)} equations for {len(states)} states")
    return {state: str(from_prefix(part, states)) for state, part in zip(states, parts, strict=True)}
