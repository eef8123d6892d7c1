from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import GitSource
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC016", severity=Severity.WARNING)
def git_source_unencrypted(source: GitSource) -> Iterator[Finding]:
    """Flux reads a repository over plain HTTP.

    Whoever is on the way can change what Flux applies, and reads the password if there is one; nothing says which
    server answers. Flux applies it with the rights of its stages.

    ## Fails

        flux: {url: "http://git.example.com/platform/clusters"}

    ## Passes

        flux: {url: "https://git.example.com/platform/clusters"}

        flux: {url: "ssh://git@git.example.com/platform/clusters"}
    """
    if source.url.startswith("http://"):
        yield Finding(
            f"`{source.url}` is read without encryption",
            source.where("url"),
            label="anybody on the way may change it",
            help="write `https://` or `ssh://`",
        )
