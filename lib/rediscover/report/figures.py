"""One look for all figures: method -> colour, marker and order, fixed here."""

from contextlib import contextmanager

# Okabe and Ito's colours, distinguishable with colour-vision deficiency, then tints of them.
METHOD_STYLE = {
    "oracle": ("#000000", "*"),
    "mean": ("#999999", "_"),
    "zero": ("#cccccc", "x"),
    "polynomial": ("#0072b2", "o"),
    "power_law": ("#56b4e9", "s"),
    "gplearn": ("#e69f00", "^"),
    "operon": ("#d55e00", "D"),
    "pysr": ("#cc79a7", "v"),
    "sindy": ("#009e73", "P"),
    "published": ("#f0e442", "h"),
}
_OTHERS = ("#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255", "#aa4499")


def colour(method: str) -> str:
    """The colour of a method; methods without an entry get one that depends on the name alone."""
    if method in METHOD_STYLE:
        return METHOD_STYLE[method][0]
    return _OTHERS[sum(map(ord, method)) % len(_OTHERS)]


def marker(method: str) -> str:
    return METHOD_STYLE.get(method, ("", "."))[1]


def order(methods) -> list[str]:
    """Methods in the order of all tables and figures: controls, then as listed above, then by name."""
    known = list(METHOD_STYLE)
    return sorted(set(methods), key=lambda name: (known.index(name) if name in known else len(known), name))


@contextmanager
def style():
    """matplotlib settings of all figures, as a context."""
    import matplotlib

    settings = {
        "figure.constrained_layout.use": True,
        "figure.dpi": 100,
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "image.cmap": "viridis",
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context(settings):
        yield
