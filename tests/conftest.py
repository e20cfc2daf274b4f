"""What several test modules need."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("REDISCOVER_PROGRESS", "off")  # a bar would be output of the notebooks


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the verified facts, beside the repository; where it is absent, tests skip."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder.name}/ is not beside the repository")
    return folder
