"""The index of a home on local disk: delete it and it is rebuilt from the runs."""

from paddock.catalog.catalog import Catalog
from paddock.catalog.refresh import Refreshed
from paddock.catalog.series import Batch

__all__ = ["Batch", "Catalog", "Refreshed"]
