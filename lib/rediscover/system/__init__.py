"""The machine underneath: reproducible arithmetic, child processes, places, files of others."""
