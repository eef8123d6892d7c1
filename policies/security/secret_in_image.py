from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.images.built.plan import Step
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.secrets import carried, in_text


@rule("RUN064")
def secret_in_image(step: Step) -> Iterator[Finding]:
    """A Dockerfile has a secret as plain text.

    It is in git, and in the image: `docker history` shows every `ENV`, `ARG` and `RUN` to whoever may pull it, and a
    file that a later step removes is still in its layer (Docker, building best practices: ENV; Docker documentation,
    build secrets). Found by names that carry credentials, and by the form of tokens; the value is not printed.

    ## Fails

        FROM scratch
        ENV HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz

        FROM scratch
        ARG DB_PASSWORD="hunter2"

        FROM scratch
        RUN pip install --index-url https://me:hunter22@pypi.example/simple train==1.0

    ## Passes

        FROM scratch
        ARG HF_TOKEN
        ENV HF_HOME=/cache PASSWORD_FILE=/run/secrets/password

        FROM scratch
        RUN sed -ri 's/^passwd:.*/passwd:     files sss systemd/' /etc/nsswitch.conf

        FROM scratch
        RUN --mount=type=secret,id=hf HF_TOKEN="$(cat /run/secrets/hf)" python fetch.py
    """
    for word in step.words:
        name, equals, value = word.partition("=")
        what = ""
        if step.instruction in ("ENV", "ARG") and equals:
            if carried(name, value):
                what = "the value of `" + name + "`"
            else:
                what = ""
        elif step.instruction == "RUN":
            what = in_text(word)
        if what:
            yield Finding(
                f"`{step.path}` has {what} in git, and in every image",
                step.at,
                secret=True,
                help="give it to the build as a secret (`RUN --mount=type=secret`), or to the job as a Secret",
                spec_help="give it to the jobs: `secretEnv: [{env: …, secret: …, key: …}]`",
            )
