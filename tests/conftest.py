"""What several test modules need."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the verified facts, beside the repository; where it is absent, tests skip."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder.name}/ is not beside the repository")
    return folder
