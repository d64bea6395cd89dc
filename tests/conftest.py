"""What all tests share."""

from hypothesis import settings

# A machine that is busy is no fault of the code: examples may take what they take.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
