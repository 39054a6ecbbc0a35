"""Whether the files of a run are what was written."""

from decentral.api.places import PathLike
from decentral.plain_files import as_path
from decentral.records import RunDirectory
from decentral.verification.files import Verification
from decentral.verification.files import verify as verify_files


def verify(run: PathLike, /) -> Verification:
    """Check the files of a run, finished or not, against the hashes that were noted when they were written."""
    return verify_files(RunDirectory.open(as_path("run", run)))
