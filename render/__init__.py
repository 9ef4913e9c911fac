"""From a source to a Snapshot: what the browser laid out, or what a static parse can know.

The package is callable, since `pagesight.render(source)` is a public function and importing any
module in here makes Python bind `pagesight.render` to this package.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, source: Any, **options: Any) -> Any:
        return import_module("pagesight.app.api").render(source, **options)


sys.modules[__name__].__class__ = _CallablePackage
