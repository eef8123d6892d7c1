"""The spec of images: what is built, from what, and where it is stored."""

from pydantic import Field

from trainyard.core.images.forms.cache import ImageCache
from trainyard.core.images.forms.image import Image
from trainyard.language.models.section import Section
from trainyard.language.source.texts import TextKey


class ImagesSection(Section):
    """What is built for jobs."""

    images: list[Image] = Field(
        [],
        description="The images that are built for jobs, each in an ECR repository of its own; jobs name them.",
        examples=[
            [
                {
                    "name": "train",
                    "base": "public.ecr.aws/deep-learning-containers/pytorch-training@sha256:"
                    "f861e28dd9b8ecc86722bd37306b2f7b7e74336bc9c98dba37223cf031d04a7a",
                    "requirements": "requirements.txt",
                    "sources": [{"from": "src", "to": "/workspace/src"}],
                    "build": {"codeBuild": {}},
                }
            ]
        ],
    )
    image_caches: list[ImageCache] = Field(
        [],
        description="Pull-through caches of ECR for other registries; bases of images are pulled from them.",
        examples=[[{"registry": "public.ecr.aws"}]],
    )


SECTION = ImagesSection
DOCUMENTS = {"TrainingImage": ("images", Image)}
TEXTS = (
    TextKey(("images", None, "requirements")),
    TextKey(("images", None, "lock"), "images/{cluster}/{name}.lock"),
    TextKey(("images", None, "sources", None, "from"), lines=False),
)
