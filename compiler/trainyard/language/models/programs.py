"""Checks of what a container is started with, and of where its volumes are mounted."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from trainyard.language.diagnostics.words import shortened
from trainyard.language.models.checks import fault, matched
from trainyard.language.models.editor import for_editors, literal, shaped


@shaped(r"[^\0]*")
def word(text: str) -> str:
    """An argument or a value of a variable: any text that a process can be given."""
    if "\0" in text:
        # execve(2): arguments and variables end at the first zero byte.
        raise fault(
            "the text has a zero byte, where every argument and variable ends",
            "remove the zero byte",
            source="execve(2)",
        )
    return text


_OF_SHELLS = frozenset(
    {
        "cd",
        "export",
        "source",
        ".",
        "set",
        "unset",
        "exec",
        "eval",
        "ulimit",
        "alias",
        "if",
        "for",
        "while",
        "&&",
        "||",
        "|",
        ";",
    }
)
_NO_PROGRAM = r"-|\w+="
_SHELL_WORDS = "|".join(literal(one) for one in sorted(_OF_SHELLS))
_PROGRAM = rf"(?!{_NO_PROGRAM}|(?:{_SHELL_WORDS})\Z)[^\s\0]+"


@shaped(prefixItems=[{"type": "string", "pattern": for_editors(_PROGRAM)}])
def program(words: list[str]) -> list[str]:
    """A command whose first word can be a program.

    Kubernetes runs it without a shell (core/v1 Container, command): it is looked up as it stands, in PATH or by path.
    """
    first = words[0] if words else "sh"
    if not first.strip():
        raise fault(
            "the command begins with an empty word, which is no program",
            "write the program first, like `[torchrun, train.py]`",
            source=_COMMAND,
        )
    if re.search(r"\s", first):
        help = _SHELL
        if _splits(first):
            shown = first.split()
            if len(shown) > _MOST_SHOWN:
                shown[_MOST_SHOWN:] = ["…"]
            help = f"write `[{', '.join(shown)}]`"
        raise fault(
            f"the program of the command is `{shortened(first, 48)}`, spaces and all: no shell splits it",
            help,
            source=_COMMAND,
        )
    if re.match(_NO_PROGRAM, first):
        what = "an option" if first.startswith("-") else "a variable"
        raise fault(
            f"the command begins with {what}, `{shortened(first, 48)}`, and not with a program",
            "write it under `args:` if the image has an entrypoint"
            if first.startswith("-")
            else "write it under `env:`",
            source=_COMMAND,
        )
    if first in _OF_SHELLS:
        raise fault(f"`{first}` is a word of the shell and no program", _SHELL, source=_COMMAND)
    return words


_MOST_SHOWN = 6
_COMMAND = "core/v1 Container, command (Kubernetes 1.35)"
_SHELL = 'write `[bash, -c, "..."]` for a line of shell'


def _splits(text: str) -> bool:
    """Whether its words are separate without a shell too."""
    return re.search(r"[&|;<>$`\"'\\*(){}\n]", text) is None


_PATH = r"/[^\0:]*"
_LONGEST_PATH = 4095  # Linux, PATH_MAX less its zero byte
_UP = r"(?!.*/\.\.(?:/|\Z))"  # a path says where it ends
_absolute = matched(_PATH, "an absolute path", "/data/fsx", longest=_LONGEST_PATH)


@shaped(_UP + _PATH, maxLength=_LONGEST_PATH)
def path(value: Any) -> str:
    """An absolute path in a container, without `..`."""
    text = _absolute(value)
    if "/../" in f"{text}/":
        ends = "/" + posixpath.normpath(text).lstrip("/")
        raise fault(
            f"`{text}` goes up by `..`, and ends at `{ends}`", f"write `{ends}`, if that is meant"
        )
    return text


@shaped(rf"{_UP}(?!/(?:proc|sys|dev(?!/shm))(?:/|\Z)){_PATH}", maxLength=_LONGEST_PATH)
def writable_path(value: Any) -> str:
    """A path where a program may write: not in the folders that show the kernel and the devices."""
    text = path(value)
    place = "/" + posixpath.normpath(text).lstrip("/")
    for folder in _OF_THE_KERNEL:
        if f"{place}/".startswith(f"{folder}/") and not f"{place}/".startswith("/dev/shm/"):
            raise fault(
                f"`{text}` lies in `{folder}`, which shows the kernel and its devices and keeps no file",
                "write a path elsewhere, like `/workspace`",
                source="OCI runtime specification 1.2, default file systems",
            )
    return text


# What a volume would hide from the container, or what the container runtime refuses (runc 1.3, checkProcMount: nothing
# is mounted inside /proc; OCI runtime spec 1.2, default file systems; Filesystem Hierarchy Standard 3.0).
_HIDDEN = {
    "/": "the whole image",
    "/bin": "its programs",
    "/sbin": "its programs",
    "/usr": "its programs and libraries",
    "/usr/bin": "its programs",
    "/usr/sbin": "its programs",
    "/usr/lib": "its libraries",
    "/usr/local": "its programs and libraries",
    "/usr/local/bin": "its programs",
    "/usr/local/lib": "its libraries",
    "/lib": "its libraries",
    "/lib64": "its libraries",
    "/usr/lib64": "its libraries",
    "/etc": "its configuration",
    "/var": "its state",
    "/var/lib": "its state",
    "/run": "what the kubelet mounts",
    "/var/run": "what the kubelet mounts",
    "/boot": "its boot files",
}
_OF_PROGRAMS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/lib", "/lib64", "/usr/lib")
_OF_THE_KUBELET = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
_ELSEWHERE = "mount it in a folder of its own, like `/data`"
_OF_THE_KERNEL = ("/proc", "/sys", "/dev")


_TAKEN = "|".join(literal(path) for path in (*_OF_THE_KERNEL, *_HIDDEN))


@shaped(
    rf"{_UP}(?!(?:{_TAKEN})/?\Z)(?!/(?:proc|sys|dev(?!/shm/?\Z))/|/(?:var/)?run/secrets(?:/|\Z)){_PATH}",
    maxLength=_LONGEST_PATH,
)
def mount_path(value: Any) -> str:
    """Where a volume may be mounted in a container."""
    text = path(value)
    place = "/" + posixpath.normpath(text).lstrip("/")
    for folder in _OF_THE_KERNEL:
        # /dev/shm has a fault of its own, in words of its own.
        is_inside = f"{place}/".startswith(f"{folder}/")
        if is_inside and place != "/dev/shm":
            raise fault(
                f"`{text}` lies in `{folder}`, which is the kernel's: a volume there hides devices, or no pod starts",
                _ELSEWHERE,
                source="OCI runtime specification 1.2, default file systems; runc, checkProcMount",
            )
    if place in _HIDDEN:
        raise fault(
            f"a volume at `{text}` hides {_HIDDEN[place]}",
            _ELSEWHERE,
            source="Filesystem Hierarchy Standard 3.0; core/v1 VolumeMount",
        )
    if f"{place}/".startswith(("/var/run/secrets/", "/run/secrets/")):
        raise fault(
            f"`{text}` is where the kubelet mounts credentials",
            _ELSEWHERE,
            source="Kubernetes, service accounts: bound tokens",
        )
    return text


def file_path(value: Any) -> str:
    """Where a text may appear as a file in a container: its folder may be one that a volume would hide."""
    text = path(value)
    place = "/" + posixpath.normpath(text).lstrip("/")
    if text.endswith(("/", "/.")) or place in _HIDDEN:
        raise fault(
            f"`{text}` is a folder, and a text becomes a file",
            "write the path of a file, like `/workspace/train.yaml`",
            source="core/v1 VolumeMount subPath (Kubernetes 1.35)",
        )
    if place in _OF_THE_KUBELET:
        raise fault(
            f"`{text}` is written by the kubelet for each pod",
            "remove it; programs find other hosts by DNS",
            source="core/v1 PodSpec hostAliases, dnsConfig (Kubernetes 1.35)",
        )
    if posixpath.dirname(place) in _OF_PROGRAMS:
        raise fault(
            f"`{text}` takes the place of a program or library of the image",
            "write it to a folder of its own, like `/workspace`, or to `/usr/local/bin`",
            source="Filesystem Hierarchy Standard 3.0, /bin and /lib",
        )
    return mount_path(text)
