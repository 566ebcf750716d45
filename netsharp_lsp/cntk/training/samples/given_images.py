"""Images that a user names for a model, read as the reader of a configuration reads its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.data.errors import DataError, nearest
from netsharp_lsp.cntk.run.models import trains
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.image_files import ImageFile, is_random
from netsharp_lsp.cntk.training.samples.reader import reader_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_engine.cntk.samples.given import Wants
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Scope
    from netsharp_lsp.cntk.run.experiment import Experiment


class ImagesAsRead(NamedTuple):
    """Lists of images, each read with the transforms of one reader."""

    file: ImageFile

    def read(self, path: str, wanted: Wants) -> Sequences:
        """Read the images of a list, and their labels; DataError where they do not fit."""
        sizes = self.file.sizes
        for one in wanted.inputs:
            stream = one.alias or one.name
            if stream not in sizes:
                raise DataError(
                    f"{path}: the reader has no stream '{stream}'.{nearest(stream, sizes)} Name "
                    f"the stream of an input: --stream {one.name}=STREAM."
                )
            if sizes[stream] != one.size:
                raise DataError(
                    f"{path}: the reader provides {sizes[stream]:,} numbers for '{stream}', and "
                    f"the network needs {one.size:,}."
                )
        listed = self.file.listed._replace(path=path)
        images = self.file._replace(path=path, listed=listed)
        return wanted.renamed(images.pictures(wanted.dtype).sequences())


def images_as_read(experiment: Experiment) -> ImagesAsRead:
    """Find the reader of images of the first command that tests or writes, else that trains.

    Raises Refused where no reader provides images, and where its images are drawn at random.
    """
    refused: Refused | None = None
    for command, scope in _reading(experiment):
        found = Options(scope).found("reader")
        if found is None:
            continue
        try:
            reader = reader_of(found, scope, experiment.files, otherwise=False)
        except Refused as one:
            refused = refused or one
            continue
        images = [one for one in reader.file.files if isinstance(one, ImageFile)]
        if images:
            _demand_fixed(images[0], command)
            return ImagesAsRead(images[0])
    root = experiment.configuration.root
    raise refused or Refused(
        RunRefusal("no command here has a reader of images.", where_of(root.text))
    )


def _reading(experiment: Experiment) -> Iterator[tuple[Command, Scope]]:
    """Yield the commands that are run, those that train after all others."""
    listed = [one for one in experiment.commands if one.listed]
    for command in sorted(listed, key=trains):
        if command.scope is not None:
            yield command, command.scope


def _demand_fixed(images: ImageFile, command: Command) -> None:
    if any(map(is_random, images.streams.transforms)):
        reason = (
            f"the reader of '{command.name}' changes images at random, and an answer must not "
            "be random. Name a command whose reader does not (command=NAME), or "
            "set cropType=center, hflip=false and no radii."
        )
        raise Refused(RunRefusal(reason, images.where))
