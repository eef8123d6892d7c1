"""Checks of what names a git repository, a branch or a folder in it."""

from __future__ import annotations

import re
from typing import Any

from trainyard.language.models.checks import as_text, fault
from trainyard.language.models.editor import shaped

_FOLDER = r"[A-Za-z0-9._/-]+"


@shaped(rf"(?!/)(?!(?:.*/)?\.\.(?:/|\Z)){_FOLDER}")
def repository_path(value: Any) -> str:
    """A folder inside the repository, without `./` and `/` around it."""
    text = as_text(value, "a folder of the repository", "clusters/seoul")
    names = text.split("/")
    parts = [part for part in names if part not in ("", ".")]
    if text.startswith("/") or ".." in parts or not parts or not re.fullmatch(_FOLDER, text):
        raise fault(
            f"`{text}` is not a folder inside the repository",
            "write it relative to the repository's root, like `clusters/seoul`",
            source="kustomize.toolkit.fluxcd.io/v1 Kustomization, path",
        )
    return "/".join(parts)


_URL = "source.toolkit.fluxcd.io/v1 GitRepository, url and secretRef"


_REPOSITORY = r"(?:https?|ssh)://[^/\s]+/\S+"


@shaped(rf"(?!https?://[^/]*@|ssh://[^/]*:[^/]*@){_REPOSITORY}")
def repository_url(value: Any) -> str:
    """The URL of a git repository. One with a password in it is refused, and not shown."""
    text = as_text(value, "the URL of a repository", "https://github.com/org/fleet")
    scheme, _, rest = text.partition("://")
    host, _, path = rest.partition("/")
    user, at, address = host.rpartition("@")
    if at and (":" in user or scheme != "ssh"):
        bare = f"{scheme}://{address}/{path}"
        raise fault(
            "the URL of the repository has credentials in it, and git keeps them for ever",
            f"write `{bare}`, and name the Secret that has them under `secret:`",
            source=_URL,
        )
    if not re.fullmatch(_REPOSITORY, text):
        near = re.match(r"(\w+)@([\w.-]+):(\S+)\Z", text)
        help = "write it like `https://github.com/org/fleet`"
        if near:
            user, host, path = near.groups()
            help = f"write `ssh://{user}@{host}/{path}`"
        raise fault(
            f"`{text}` is not the `https://` or `ssh://` URL of a repository", help, source=_URL
        )
    _reachable(text, scheme, user, address, path)
    return text


_PORT = r":(?!\d+\Z)(?P<path>[^:]*)\Z"
_OWN_HOST = r"(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0)(:\d+)?"
_PAGE = r"(?P<repository>.+?)/(?:-/)?(?:tree|blob|commits?)/.+"
"""The page of a folder, a file or a commit, at GitHub and GitLab."""


def _reachable(text: str, scheme: str, user: str, address: str, path: str) -> None:
    """Refuse what has the form of a URL and that no pod of Flux gets a repository from."""
    port = re.search(_PORT, address)
    if port is not None:
        before = f"{user}@" if user else ""
        host = address[: port.start()]
        raise fault(
            f"`{text}` has `{port['path']}` where a port is written",
            f"write `{scheme}://{before}{host}/{port['path']}/{path}`",
            source="RFC 3986, section 3.2.3",
        )
    if re.fullmatch(_OWN_HOST, address):
        raise fault(
            f"`{address}` is the pod of Flux itself, in which no repository is",
            "write the host as others reach it",
            source=_URL,
        )
    page = re.fullmatch(_PAGE, path)
    if page is not None:
        raise fault(
            f"`{text}` is a page of a repository, and no URL to clone it from",
            f"write `{scheme}://{address}/{page['repository']}`, and the branch under `branch:`",
            source=_URL,
        )


# git check-ref-format (git 2.51): what no name of a branch has, and why.
_NO_BRANCH = (
    (r"[^A-Za-z0-9._/-]", "has a character other than letters, digits, `.`, `_`, `/` and `-`"),
    (r"-", "begins with `-`"),
    (r"/|.*//|.*/\Z", "begins or ends with `/`, or has two in a row"),
    (r".*\.\.", "has two dots in a row"),
    (r"(.*/)?\.|.*\.\Z", "has a part that begins with a dot, or ends with one"),
    (r".*\.lock(/|\Z)", "has a part that ends with `.lock`"),
    (r"HEAD\Z", "is what git calls the commit that is checked out"),
)


# The first says which characters there are, the others what no name begins with.
_REFUSED = "".join(f"(?!{pattern})" for pattern, _ in _NO_BRANCH[1:])


@shaped(rf"(?!refs/heads/){_REFUSED}[A-Za-z0-9._/-]+")
def branch(value: Any) -> str:
    """The name of a branch, without ``refs/heads/``."""
    text = as_text(value, "a branch", "main")
    if text.startswith("refs/heads/"):
        raise fault(
            f"`{text}` is the whole name of a reference",
            f"write `{text.removeprefix('refs/heads/')}`",
            source="source.toolkit.fluxcd.io/v1 GitRepository, ref.branch",
        )
    for pattern, why in _NO_BRANCH:
        anywhere = pattern.startswith("[^")
        if anywhere:
            find = re.search
        else:
            find = re.match
        matched = find(pattern, text)
        if matched:
            raise fault(
                f"`{text}` is no branch of git: it {why}",
                "write it like `main` or `release/1.0`",
                source="git check-ref-format (git 2.51)",
            )
    return text
