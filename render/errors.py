"""The one exception tree.

PagesightError
├── SourceError            the input cannot be had: no such file, dead host, no bytes
│   ├── UnsupportedError   the input is there but is no web page: a PDF, an image, a download
│   └── ForbiddenError     the guard refuses the address or the scheme
├── RenderError            the browser failed on this page
│   ├── DeadlineError      nothing could be captured before the deadline
│   └── BrowserError       no browser could be found or started
├── SnapshotError          a snapshot file is damaged or of an unknown version
├── ModelError             a model file is damaged, or does not fit these features
├── DatasetError           a data set is not laid out as published
└── StudyError             a study cannot be made as it was asked for
"""


class PagesightError(Exception):
    """Whatever pagesight raises on purpose; its message is one line, fit for a user."""


class SourceError(PagesightError):
    """The input cannot be had."""


class UnsupportedError(SourceError):
    """The input is no web page."""


class ForbiddenError(SourceError):
    """The guard refuses this address or scheme."""


class RenderError(PagesightError):
    """The browser failed on this page."""


class DeadlineError(RenderError):
    """Nothing could be captured before the deadline."""


class BrowserError(RenderError):
    """No browser could be found or started."""


class SnapshotError(PagesightError):
    """A snapshot file is damaged or of an unknown version."""


class ModelError(PagesightError):
    """A model file is damaged, or does not fit the features."""


class DatasetError(PagesightError):
    """A data set is not laid out as published."""


class StudyError(PagesightError):
    """A study cannot be made as it was asked for."""
