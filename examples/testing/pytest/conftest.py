import pytest
from drawbridge import create_team


@pytest.fixture
def team():
    created = create_team()
    yield created
    created.delete()
