"""The machine underneath: reproducible arithmetic, limited calls, places, files of others."""
