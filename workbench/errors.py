"""The errors a caller can make or meet, as one small tree. A model's failures are values, not these."""


class WorkbenchError(Exception):
    """Anything of ours. The text says what was given, what is allowed, and what to do."""


class BadInputError(WorkbenchError):
    """A file, parameter or argument that cannot be used as it is."""


class UnreadableDatabaseError(BadInputError):
    """A database file that is missing, damaged, locked, or no database."""


class MisalignedError(BadInputError):
    """Predictions that do not fit the questions they are given for."""


class StoreError(WorkbenchError):
    """The lab book cannot be opened, read or written."""
