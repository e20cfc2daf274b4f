"""Inference of pretrained transformers by their authors' packages, in a Python that has them.

Run as ``python -I inference.py NAME FOLDER``. It stands alone and keeps to Python 3.7, which the packages were
written for. FOLDER holds ``data.npz`` and ``request.json``; the answer is ``answer.json`` there: for each candidate,
best first, what the package writes: its tree in prefix order, or its text and loss.
"""

import inspect
import json
import os
import sys


def load(path):
    """The pickled module at `path`, which can run any code as it is loaded."""
    import torch

    options = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
    return torch.load(path, map_location="cpu", **options)


def e2e(data, request):
    """The end-to-end transformer on X, shape (n, n_inputs), and y, shape (n,)."""
    from symbolicregression.model import SymbolicTransformerRegressor

    regressor = SymbolicTransformerRegressor(model=load(request["weights"]), rescale=True, **request["settings"])
    regressor.fit(data["X"], data["y"])
    trees = regressor.retrieve_tree(all_trees=True, with_infos=True)
    return [item["relabed_predicted_tree"].prefix() for item in trees]


def odeformer(data, request):
    """ODEFormer on times, shape (n,), and states, shape (n, n_states)."""
    from odeformer.model import SymbolicTransformerRegressor

    regressor = SymbolicTransformerRegressor(model=load(request["weights"]))
    regressor.set_model_args(request["settings"])
    regressor.fit(data["t"], data["states"])
    return [tree.prefix() for tree in regressor.predictions[0] if tree is not None]


def nesymres(data, request):
    """NeSymReS on X, shape (n, n_inputs), and y, shape (n,), in the single precision of its weights."""
    import numpy as np
    from nesymres.architectures.model import Model
    from nesymres.dclasses import BFGSParams, FitParams
    from omegaconf import OmegaConf

    settings = request["settings"]
    with open(os.path.join(settings["configuration"], "eq_setting.json")) as file:
        given = json.load(file)
    config = OmegaConf.load(os.path.join(settings["configuration"], "config.yaml"))
    model = Model.load_from_checkpoint(request["weights"], map_location="cpu", cfg=config.architecture)
    model.eval()
    same = ("word2id", "una_ops", "bin_ops", "total_variables", "total_coefficients", "rewrite_functions")
    words = {int(number): word for number, word in given["id2word"].items()}
    bfgs = BFGSParams(**settings["bfgs"])
    params = FitParams(
        id2word=words, bfgs=bfgs, beam_size=settings["beam_size"], **{name: given[name] for name in same}
    )
    found = model.fitfunc(data["X"].astype("float32"), data["y"].astype("float32"), cfg_params=params)
    texts = found["all_bfgs_preds"]
    # A single NaN, where all are; complex, where a skeleton is.
    losses = np.broadcast_to(found["all_bfgs_loss"], len(texts))
    order = [k for k in np.argsort(losses.real, kind="stable") if np.isreal(losses[k]) and np.isfinite(losses[k])]
    return [(texts[k], float(losses[k].real)) for k in order]


def main(name, folder):
    with open(os.path.join(folder, "request.json")) as file:
        request = json.load(file)
    if request["source"]:
        sys.path.insert(0, request["source"])
    import numpy as np
    import torch

    if not hasattr(np, "infty"):  # the packages use it, numpy 2 has it no more
        setattr(np, "infty", np.inf)  # noqa: B010, which would have it renamed
    np.random.seed(request["seed"])  # noqa: NPY002, the generator that the packages draw from
    torch.manual_seed(request["seed"])
    data = np.load(os.path.join(folder, "data.npz"))
    answer = {"e2e": e2e, "nesymres": nesymres, "odeformer": odeformer}[name](data, request)
    with open(os.path.join(folder, "answer.json"), "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
