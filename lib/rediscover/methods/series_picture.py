"""Series as a small picture, for a language model that is shown one; the same data give the same bytes."""

import io
from collections.abc import Sequence

import numpy as np

PIXELS = (512, 384)  # one tile of OpenAI's vision models
DPI = 100
ROWS, COLUMNS = 4, 3  # of panels, at most
SHADES = 16  # of grey


def drawn(names: Sequence[str], times: np.ndarray, values: np.ndarray) -> bytes:
    """A panel for each series, over time.

    Parameters
    ----------
    names : sequence of str
        Of the series.
    times : ndarray, shape (n,)
    values : ndarray, shape (n, n_names)

    Returns
    -------
    bytes
        A file in the format PNG, of `PIXELS`, in shades of grey, without a date or the name of a program. Another
        version of matplotlib or Pillow may write other bytes.

    Raises
    ------
    ValueError
        If there are more series than panels.
    """
    if len(names) > ROWS * COLUMNS:
        raise ValueError(f"{len(names)} series do not fit into a picture, which has {ROWS * COLUMNS} panels at most")
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    columns = -(-len(names) // ROWS)
    rows = -(-len(names) // columns)
    with style.context("default"):
        figure = Figure(figsize=(PIXELS[0] / DPI, PIXELS[1] / DPI), dpi=DPI, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True).T.ravel()
        for panel, name, series in zip(panels, names, values.T, strict=False):
            panel.plot(times, series, color="black", linewidth=1.0)
            panel.set_ylabel(name, fontsize=8)
            panel.tick_params(labelsize=7)
            panel.yaxis.get_offset_text().set_fontsize(7)
        panels[len(names) - 1].tick_params(labelbottom=True)
        for panel in panels[len(names) :]:
            panel.set_axis_off()
        figure.supxlabel("time", fontsize=8)
        canvas.draw()
    file = io.BytesIO()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("L").quantize(SHADES)
    image.save(file, format="PNG", optimize=True)
    return file.getvalue()
