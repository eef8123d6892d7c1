"""A base is judged as its overlays apply it: with their patches, and the keys that their generators add."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from trainyard.extensions.lint.builds import Build, Builds, builds
from trainyard.extensions.lint.kustomize import Kustomizations
from trainyard.extensions.lint.linter import Linted, lint
from trainyard.extensions.lint.reading import read_all
from trainyard.language.diagnostics import Diagnostic
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: x, labels: {pod-security.kubernetes.io/enforce: restricted}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: x}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web:1
        env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: host}}}]
        securityContext:
          allowPrivilegeEscalation: false
          capabilities: {drop: [ALL]}
          runAsNonRoot: true
"""
SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: x}
data: {port: "80"}
"""
BASE = {
    "base/namespace.yaml": NAMESPACE,
    "base/web.yaml": DEPLOYMENT,
    "base/settings.yaml": SETTINGS,
    "base/kustomization.yaml": "resources: [namespace.yaml, web.yaml, settings.yaml]\n",
}
POD = "spec: {template: {spec: {securityContext: {seccompProfile: {type: RuntimeDefault}}}}}"
OF_WEB = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\n{POD}\n"
OPERATIONS = """\
- op: add
  path: /spec/template/spec/securityContext
  value: {seccompProfile: {type: RuntimeDefault}}
"""
BY_FILE = "resources: [../base]\npatches: [{path: web.yaml}]\n"
BY_TARGET = "resources: [../base]\npatches: [{path: web.json, target: {kind: Deployment}}]\n"
INLINE = (
    "resources: [../base]\npatches:\n- target: {kind: Deployment, name: we.*|api}\n  patch: |\n"
    + "".join(f"    {line}\n" for line in OPERATIONS.splitlines())
)
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: flux-apps}\n"
HOST = "configMapGenerator: [{name: settings, behavior: merge, literals: [host=a]}]\n"
HOST_OF_FILE = "configMapGenerator: [{name: settings, behavior: merge, envs: [host.env]}]\n"


def linted(folder: Path, files: dict[str, str]) -> Linted:
    for name, text in {**BASE, **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return lint([folder], Options(today=date(2026, 11, 23)))


def errors(run: Linted) -> list[Diagnostic]:
    return [finding for finding in run.all() if finding.severity.name == "ERROR"]


def codes(folder: Path, files: dict[str, str]) -> list[str]:
    return sorted(finding.code for finding in errors(linted(folder, files)))


def test_a_base_alone_lacks_what_it_lacks(tmp_path: Path) -> None:
    assert codes(tmp_path, {}) == ["REF001", "SCH012"]


@pytest.mark.parametrize(
    "files",
    [
        {"over/kustomization.yaml": BY_FILE, "over/web.yaml": OF_WEB},
        {"over/kustomization.yaml": BY_TARGET, "over/web.json": OPERATIONS},
        {"over/kustomization.yaml": INLINE},
        {
            "over/kustomization.yaml": "resources: [../base]\npatchesStrategicMerge: [web.yaml]\n",
            "over/web.yaml": OF_WEB,
        },
        {
            "over/kustomization.yaml": "resources: [../base]\ncomponents: [../safe]\n",
            "safe/kustomization.yaml": "kind: Component\npatches: [{path: web.yaml}]\n",
            "safe/web.yaml": OF_WEB,
        },
        {
            "named/kustomization.yaml": "namePrefix: a-\nresources: [../base]\n",
            "over/kustomization.yaml": BY_FILE.replace("base", "named"),
            "over/web.yaml": OF_WEB.replace("web}", "a-web}"),
        },
    ],
)
def test_what_an_overlay_gives_is_not_missing(files: dict[str, str], tmp_path: Path) -> None:
    assert codes(tmp_path, files) == ["REF001"]


def test_patches_are_counted_whatever_they_are_known_by(tmp_path: Path) -> None:
    """By the kustomization that names them, or by their `$patch`."""
    files = {
        "over/kustomization.yaml": "resources: [../base]\npatches: [{path: web.yaml}, {path: gone.yaml}]\n",
        "over/web.yaml": OF_WEB,
        "over/gone.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n$patch: delete\n",
    }
    lines = "\n".join(linted(tmp_path, files).coverage.lines(findings=True))
    assert "2 patches of kustomize" in lines


@pytest.mark.parametrize(
    "files",
    [
        {"over/kustomization.yaml": f"resources: [../base]\n{HOST}"},
        {
            "over/kustomization.yaml": f"resources: [../base]\n{HOST_OF_FILE}",
            "over/host.env": "# the host\nhost=a\n",
        },
        {
            "over/kustomization.yaml": f"resources: [../base]\n{HOST_OF_FILE}".replace(
                "envs: [host.env]", "env: host.env"
            ),
            "over/host.env": "host=a\n",
        },
        {
            "over/kustomization.yaml": f"resources: [../base]\n{HOST_OF_FILE}".replace(
                "envs: [host.env]", "files: [host]"
            )
        },
        {
            "over/kustomization.yaml": f"resources: [../base]\n{HOST_OF_FILE}".replace(
                "envs: [host.env]", "files: [host=a.txt]"
            )
        },
        # What keys a file outside has is not known.
        {
            "over/kustomization.yaml": f"resources: [../base]\n{HOST_OF_FILE}".replace(
                "host.env", "../host.env"
            ),
            "host.env": "port=80\n",
        },
    ],
)
def test_keys_that_a_generator_adds_are_there(files: dict[str, str], tmp_path: Path) -> None:
    assert codes(tmp_path, files) == ["SCH012"]


@pytest.mark.parametrize(
    "files",
    [
        {"over/kustomization.yaml": "resources: [../base]\n"},
        {"over/kustomization.yaml": BY_FILE, "over/web.yaml": OF_WEB.replace("web}", "api}")},
        {
            "over/kustomization.yaml": BY_TARGET.replace("Deployment", "Job"),
            "over/web.json": OPERATIONS,
        },
        {"over/kustomization.yaml": f"resources: [../base]\n{HOST}".replace("host=a", "hots=a")},
        # One overlay gives it, and the other does not.
        {
            "over/kustomization.yaml": f"{BY_FILE}{HOST}",
            "over/web.yaml": OF_WEB,
            "test/kustomization.yaml": "resources: [../base]\n",
        },
    ],
)
def test_what_no_overlay_gives_is_missing(files: dict[str, str], tmp_path: Path) -> None:
    assert codes(tmp_path, files) == ["REF001", "SCH012"]


@pytest.mark.parametrize(
    "patch",
    [
        "7",
        "{path: ../outside.yaml}",
        "{path: none.yaml}",
        "{path: [web.yaml]}",
        "{target: {kind: Deployment}}",
        # operations without an object that they are for
        "{path: operations.json}",
    ],
)
def test_an_entry_that_is_no_patch_gives_nothing(patch: str, tmp_path: Path) -> None:
    files = {
        "over/kustomization.yaml": f"resources: [../base]\npatches: [{patch}]\n{HOST}",
        "over/operations.json": OPERATIONS,
        "over/web.yaml": "",
        "outside.yaml": f"$patch: merge\n{OF_WEB}",
    }
    found = [finding for finding in errors(linted(tmp_path, files)) if finding.code != "YML019"]
    assert [finding.code for finding in found] == ["SCH012"]


def test_a_very_large_patch_is_not_applied(tmp_path: Path) -> None:
    over = {"over/kustomization.yaml": f"{BY_FILE}{HOST}"}
    assert codes(tmp_path, {**over, "over/web.yaml": f"{OF_WEB}#{'x' * 60_000}"}) == []
    assert codes(tmp_path, {**over, "over/web.yaml": f"{OF_WEB}#{'x' * 70_000}"}) == ["SCH012"]


def test_a_spare_patch_in_a_folder_of_patches_is_no_object(tmp_path: Path) -> None:
    """Beside a kustomization that does not name it; elsewhere such a Deployment lacks its fields."""
    over = f"resources: [../base]\n{HOST}"
    files = {"over/kustomization.yaml": over, "over/patches/web.yaml": OF_WEB}
    assert codes(tmp_path, files) == ["SCH012"]
    assert "SCH003" in codes(tmp_path, {"elsewhere/patches/web.yaml": OF_WEB})


def test_what_one_overlay_alone_applies_is_reported_once(tmp_path: Path) -> None:
    """Neither lost where the overlay differs from another in something else, nor found in both."""
    api = DEPLOYMENT.replace("web", "api").replace("name: settings, key", "name: other, key")
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: z}\nspec: {restartPolice: Never}\n"
    files = {
        "base/settings.yaml": SETTINGS.replace("\ndata:", "\ndat:"),
        "a/kustomization.yaml": f"{BY_FILE}{HOST}",
        "a/web.yaml": OF_WEB,
        "b/kustomization.yaml": f"{BY_FILE.replace('../base', '../base, api.yaml')}{HOST}",
        "b/web.yaml": OF_WEB.replace("{spec: {sec", "{spec: {hostPID: true, sec"),
        "b/api.yaml": api.replace("      containers:", "      hostIPC: true\n      containers:"),
        "z/pod.yaml": pod,
    }
    found = errors(linted(tmp_path, files))
    assert sorted(
        (str(Path(each.span.file.name).relative_to(tmp_path)), each.code)
        for each in found
        if each.span is not None
    ) == [
        ("b/api.yaml", "SCH012"),
        ("b/web.yaml", "SCH012"),
        ("base/settings.yaml", "SCH001"),
        ("z/pod.yaml", "SCH001"),
        ("z/pod.yaml", "SCH003"),
    ]


def test_of_very_many_overlays_of_a_large_base_the_first_are_judged(tmp_path: Path) -> None:
    maps = "".join(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{number}, namespace: x}}\n"
        for number in range(97)
    )
    files = {"base/settings.yaml": SETTINGS + maps}
    for number in range(6):
        unknown = OF_WEB.replace("{spec: {sec", f"{{spec: {{unknown{number}: 1, sec")
        files[f"over-{number}/kustomization.yaml"] = f"{BY_FILE}{HOST}"
        files[f"over-{number}/web.yaml"] = unknown
    found = errors(linted(tmp_path, files))
    assert [each.message.split("`")[1] for each in found] == [
        f"unknown{number}" for number in range(4)
    ]


def test_no_more_files_of_builds_are_taken_than_there_are_to_be(tmp_path: Path) -> None:
    """A kustomization names files that are not there as well."""
    names = ", ".join(f"f{number}.yaml" for number in range(100))
    base = {"resources": names.split(", ")}
    bodies = {"base/kustomization.yaml": base}
    for number in range(101):
        bodies[f"over-{number}/kustomization.yaml"] = {"resources": ["../base"]}
    assert len(builds([], Kustomizations(bodies)).all) == 100


SELECTING = "resources: [a.yaml]\ncommonLabels: {app: a}\n"
OF_KNATIVE = (
    "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\n"
    "spec: {template: {spec: {containers: [{image: 'a:1'}]}}}\n"
)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("{template: {spec: {containers: [{name: a, image: 'a:1'}]}}}", []),
        (
            "{template: {metadata: {labels: {b: c}}, spec: {containers: [{name: a, image: 'a:1'}]}}}",
            [],
        ),
        ("{}", ["SCH003"]),
        ("{template: 7}", ["SCH002"]),
        ("7", ["SCH002"]),
    ],
)
def test_a_selector_that_kustomize_writes_is_not_missing(
    spec: str, found: list[str], tmp_path: Path
) -> None:
    (tmp_path / "kustomization.yaml").write_text(SELECTING)
    (tmp_path / "a.yaml").write_text(
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {spec}\n"
    )
    assert [
        each.code for each in errors(lint([tmp_path], Options(today=date(2026, 11, 23))))
    ] == found


@pytest.mark.parametrize(
    ("kustomization", "text"),
    [
        (SELECTING, OF_KNATIVE),
        ("- a.yaml\n", OF_KNATIVE),
        (
            "resources: [a.yaml, 'https://example.com/b.yaml', 'github.com/a/b//c?ref=v1']\n",
            ACCOUNT,
        ),
    ],
    ids=["a Service of others", "a list", "what is elsewhere"],
)
def test_a_kustomization_that_says_nothing_of_an_object_leaves_it(
    kustomization: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "kustomization.yaml").write_text(kustomization)
    (tmp_path / "a.yaml").write_text(text)
    result = lint([tmp_path], Options(today=date(2026, 11, 23)))
    assert result.diagnostics == []
    assert "1 object and 1 kustomization in 2 files" in result.coverage.lines(findings=True)[0]


def test_an_overlay_that_gives_all_leaves_nothing(tmp_path: Path) -> None:
    files = {"over/kustomization.yaml": f"{BY_FILE}{HOST}", "over/web.yaml": OF_WEB}
    assert codes(tmp_path, files) == []


def test_a_fault_of_a_patch_is_shown_in_the_patch(tmp_path: Path) -> None:
    patch = OF_WEB.replace("{spec: {sec", "{spec: {hostPID: true, sec")
    files = {"over/kustomization.yaml": f"{BY_FILE}{HOST}", "over/web.yaml": patch}
    (finding,) = errors(linted(tmp_path, files))
    assert finding.span is not None
    assert (finding.code, finding.span.line) == ("SCH012", 4)
    assert finding.span.file.name == str(tmp_path / "over/web.yaml")


ADDED = "- op: add\n  path: /spec/template/spec/hostPID\n  value: true\n"
ADDING = {
    "web.json": "- {path: ./web.json, target: {kind: Deployment}}\n",
    "kustomization.yaml": "- target: {kind: Deployment}\n  patch: |\n"
    + "".join(f"    {line}\n" for line in ADDED.splitlines()),
}


@pytest.mark.parametrize("where", [".", "over", "./over"])
@pytest.mark.parametrize("file", ADDING)
def test_the_place_of_a_patch_is_written_as_the_folder_was(
    file: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "over/kustomization.yaml": f"resources: [./all.yaml]\npatches:\n{ADDING[file]}",
        "over/all.yaml": f"{NAMESPACE}---\n{DEPLOYMENT}",
        "over/web.json": ADDED,
    }
    linted(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    found = errors(lint([where], Options(today=date(2026, 11, 23))))
    places = {finding.span.file.name for finding in found if finding.span is not None}
    assert f"{where if 'over' in where else './over'}/{file}" in places


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("web", True),
        ("^web$", True),
        ("(api|web)", True),
        ("w.*", True),
        (".*b", True),
        ("w.*e.*b", True),
        (".+e.+", True),
        ("api|db", False),
        ("we", False),
        ("x.*", False),
        ("w.*x", False),
        ("w.*x.*b", False),
        ("webw.*b", False),
    ],
)
def test_the_names_that_a_target_fits(name: str, fits: bool, tmp_path: Path) -> None:
    """As regular expressions that are held against whole names (kustomize v5.8, api/types/selector.go)."""
    over = (
        f"resources: [../base]\npatches: [{{path: web.json, target: {{name: {name!r}}}}}]\n{HOST}"
    )
    files = {"over/kustomization.yaml": over, "over/web.json": OPERATIONS}
    assert codes(tmp_path, files) == ([] if fits else ["SCH012"])


def test_an_item_that_a_patch_adds_moves_no_place(tmp_path: Path) -> None:
    added = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec: {template: {spec: {containers: [{name: side, image: 'a:1'}]}}}\n"
    )
    files = {"over/kustomization.yaml": BY_FILE, "over/web.yaml": added}
    found = errors(linted(tmp_path, files))
    (key,) = [finding for finding in found if finding.code == "REF001"]
    assert key.span is not None
    assert (Path(key.span.file.name).name, key.span.line) == ("web.yaml", 12)


@pytest.mark.parametrize(("behavior", "is_left"), [("merge", True), ("replace", False)])
def test_keys_that_a_generator_replaces_are_gone(
    behavior: str, is_left: bool, tmp_path: Path
) -> None:
    port = HOST.replace("host=a", "port=80").replace("merge", behavior)
    files = {
        "base/settings.yaml": BASE["base/settings.yaml"].replace("port", "host"),
        "over/kustomization.yaml": f"resources: [../base]\n{port}",
    }
    assert codes(tmp_path, files) == (["SCH012"] if is_left else ["REF001", "SCH012"])


def test_what_a_patch_takes_away_is_not_judged(tmp_path: Path) -> None:
    files = {
        "over/kustomization.yaml": BY_FILE,
        "over/web.yaml": "$patch: delete\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
    }
    assert codes(tmp_path, files) == []


def test_what_a_generator_makes_need_not_exist_elsewhere(tmp_path: Path) -> None:
    generator = f"{BASE['base/kustomization.yaml']}{HOST.replace(', behavior: merge', '')}"
    files = {"base/kustomization.yaml": generator, "base/settings.yaml": ""}
    run = linted(tmp_path, files)
    assert "ConfigMap" not in "".join(run.coverage.lines(findings=True))


@pytest.mark.parametrize(
    "patches",
    [
        "[{op: replace, path: '', value: 1}, {op: move, path: /a}, 7, {op: copy, from: /spec, path: /spec/a}]",
        "{1: 2, spec: {$patch: nothing}}",
        "apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: []",
        "7",
        "{",
    ],
)
def test_a_patch_that_is_none_changes_nothing(patches: str, tmp_path: Path) -> None:
    text = f"resources: [../base]\npatches:\n- target: {{kind: Deployment}}\n  patch: |\n    {patches}\n"
    found = codes(tmp_path, {"over/kustomization.yaml": text})
    assert not [code for code in found if code.startswith("INT")]


@pytest.mark.slow
def test_kustomizations_that_name_each_other_end(tmp_path: Path) -> None:
    files = {
        "over/kustomization.yaml": "resources: [../base, ../more]\n",
        "more/kustomization.yaml": "resources: [../over]\n",
    }
    for number in range(1200):
        files[f"deep/{number}/kustomization.yaml"] = f"resources: [../{number + 1}]\n"
    assert codes(tmp_path, files) == ["REF001", "SCH012"]


ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: flux-apps}\nrules: []\n"
SPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n"
OTHER = "apiVersion: apps.test/v1\nkind: Sync\nmetadata: {name: flux-apps}\n"
STAGE = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: fleet}}
"""


@pytest.mark.parametrize(
    ("text", "one", "two", "codes"),
    [
        (ACCOUNT, "namespace: backend", "namespace: frontend", []),
        (ACCOUNT, "namespace: backend", "labels: []", []),
        (ACCOUNT, "namespace: backend", "namespace: backend", ["NAM005"]),
        (ACCOUNT, "labels: []", "labels: []", ["NAM005"]),
        (ACCOUNT, "namePrefix: one-", "labels: []", []),
        (OTHER, "namespace: backend", "namespace: frontend", []),
        # What is in no namespace has one name.
        (ROLE, "namespace: backend", "namespace: frontend", ["NAM005"]),
        (ROLE, "{namespace: backend, namePrefix: one-}", "namespace: frontend", []),
        # A Namespace gets its name from its kustomization.
        (SPACE, "namespace: backend", "namespace: frontend", []),
        (SPACE, "namespace: backend", "namespace: backend", ["NAM005"]),
        (SPACE, "namespace: backend", "namePrefix: two-", ["NAM001"]),
    ],
)
def test_folders_that_flux_applies_together(
    text: str, one: str, two: str, codes: list[str], tmp_path: Path
) -> None:
    for folder, said in (("one", one), ("two", two)):
        own = tmp_path / "apps" / folder
        own.mkdir(parents=True)
        (own / "object.yaml").write_text(text)
        fields = said.strip("{}").replace(", ", "\n")
        (own / "kustomization.yaml").write_text(f"resources: [object.yaml]\n{fields}\n")
    (tmp_path / "stage.yaml").write_text(STAGE)
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    assert [each.code for each in result.diagnostics] == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (ACCOUNT.replace("{name: flux-apps}", "{name: flux-apps, namespace: backend}"), ["NAM005"]),
        (ACCOUNT.replace("{name: flux-apps}", "{name: flux-apps, namespace: frontend}"), []),
        (ACCOUNT, []),
    ],
)
def test_a_namespace_that_is_given_collides_with_one_that_is_written(
    text: str, codes: list[str], tmp_path: Path
) -> None:
    for folder, content in (("one", ACCOUNT), ("two", text)):
        own = tmp_path / "apps" / folder
        own.mkdir(parents=True)
        (own / "object.yaml").write_text(content)
    (tmp_path / "apps/one/kustomization.yaml").write_text(
        "resources: [object.yaml]\nnamespace: backend\n"
    )
    (tmp_path / "apps/two/kustomization.yaml").write_text("resources: [object.yaml]\n")
    (tmp_path / "stage.yaml").write_text(STAGE)
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    assert [each.code for each in result.diagnostics] == codes


@pytest.mark.parametrize("change", ["namespace: NAME", "namePrefix: NAME-"])
def test_bases_of_different_overlays_do_not_collide(change: str, tmp_path: Path) -> None:
    """A base is applied by what builds on it alone."""
    for name in ("one", "two"):
        (tmp_path / "apps" / name).mkdir(parents=True)
        (tmp_path / f"base-{name}").mkdir()
        (tmp_path / f"base-{name}" / "object.yaml").write_text(ACCOUNT)
        (tmp_path / f"base-{name}" / "kustomization.yaml").write_text("resources: [object.yaml]\n")
        (tmp_path / "apps" / name / "kustomization.yaml").write_text(
            f"resources: [../../base-{name}]\n{change.replace('NAME', name)}\n"
        )
    (tmp_path / "stage.yaml").write_text(STAGE.replace("./apps", "./"))
    assert lint([tmp_path], Options(today=date(2026, 11, 27))).diagnostics == []


def test_what_a_namespace_enforces_holds_for_what_is_put_into_it(tmp_path: Path) -> None:
    """The Namespace and the Deployment get the same new one."""
    (tmp_path / "all.yaml").write_text(f"{NAMESPACE}---\n{DEPLOYMENT}")
    (tmp_path / "kustomization.yaml").write_text("resources: [all.yaml]\nnamespace: y\n")
    found = lint([tmp_path], Options(today=date(2026, 11, 27))).diagnostics
    assert any("seccompProfile" in f"{each.message} {each.help}" for each in found)


QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: research, namespace: team-a}
spec: {clusterQueue: research}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: research}NAMESPACE}
spec:
  parallelism: 4
  completions: 4
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: train, image: "registry.test/train:1", resources: {requests: {cpu: 4}}}]
"""


@pytest.mark.parametrize("written", ["", ", namespace: elsewhere"])
@pytest.mark.parametrize(
    ("given", "found"), [("team-a", ["QUE005"]), ("team-b", ["QUE018"]), ("", [])]
)
def test_a_job_is_judged_in_the_namespace_that_it_is_given(
    given: str, found: list[str], written: str, tmp_path: Path
) -> None:
    """Whatever it says itself."""
    (tmp_path / "queues.yaml").write_text(QUEUES)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(JOB.replace("NAMESPACE", written))
    space = f"namespace: {given}\n" if given else ""
    (tmp_path / "jobs" / "kustomization.yaml").write_text(f"{space}resources: [job.yaml]\n")
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    if not given and written:
        found = ["QUE018"]
    assert [each.code for each in errors(result)] == found


BOUND = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner, namespace: system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner-of-others, namespace: system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: runner}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [SUBJECT]
"""


@pytest.mark.parametrize(
    ("subject", "known"),
    [
        ("{kind: ServiceAccount, name: runner, namespace: system}", True),
        ("{kind: ServiceAccount, name: runner}", True),
        ("{kind: ServiceAccount, name: default}", True),
        ("{kind: ServiceAccount, name: runner, namespace: elsewhere}", False),
        ("{kind: ServiceAccount, name: others, namespace: system}", False),
        ("{kind: User, name: runner, apiGroup: rbac.authorization.k8s.io}", False),
    ],
)
def test_bindings_follow_the_accounts_that_they_name(
    subject: str, known: bool, tmp_path: Path
) -> None:
    (tmp_path / "all.yaml").write_text(BOUND.replace("SUBJECT", subject))
    (tmp_path / "kustomization.yaml").write_text("namespace: runners\nresources: [all.yaml]\n")
    read = read_all([tmp_path])
    built = builds(read.objects, Kustomizations(read.kustomizations)).objects
    account, _, binding = (each.manifest.body for each in built)
    assert account["metadata"]["namespace"] == "runners"
    assert "namespace" not in binding["metadata"]
    assert (binding["subjects"][0].get("namespace") == "runners") is known


@pytest.mark.parametrize(
    ("api_version", "kind", "placed"),
    [
        ("v1", "ConfigMap", True),
        ("v1", "PersistentVolume", False),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", False),
        ("cert-manager.io/v1", "Certificate", True),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", False),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", True),
    ],
)
def test_what_is_in_a_namespace_is_in_the_one_that_is_given(
    api_version: str, kind: str, placed: bool, tmp_path: Path
) -> None:
    """Of a kind of Kubernetes' own that has no schema here it is not known."""
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"
    (tmp_path / "one.yaml").write_text(text)
    (tmp_path / "kustomization.yaml").write_text("namespace: given\nresources: [one.yaml]\n")
    read = read_all([tmp_path])
    (built,) = builds(read.objects, Kustomizations(read.kustomizations)).objects
    assert ("namespace" in built.manifest.body["metadata"]) is placed


TENANT = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec: {interval: 1h, path: ./jobs, prune: true, targetNamespace: SPACE, sourceRef: {kind: GitRepository, name: fleet}}
"""


@pytest.mark.parametrize("kustomized", [True, False])
@pytest.mark.parametrize(
    ("targets", "found"),
    [
        (["team-a"], ["QUE005"]),
        (["team-b"], ["QUE018"]),
        # Which of several is meant nobody knows.
        (["team-a", "team-b"], []),
        ([], []),
    ],
)
def test_flux_gives_namespaces_too(
    targets: list[str], found: list[str], kustomized: bool, tmp_path: Path
) -> None:
    (tmp_path / "queues.yaml").write_text(QUEUES)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(JOB.replace("NAMESPACE", ""))
    if kustomized:
        (tmp_path / "jobs" / "kustomization.yaml").write_text("resources: [job.yaml]\n")
    for name in targets:
        text = TENANT.replace("NAME", name).replace("SPACE", name)
        (tmp_path / f"{name}.yaml").write_text(text)
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    assert [each.code for each in errors(result)] == found


def test_the_inner_of_two_folders_gives_the_namespace(tmp_path: Path) -> None:
    """Flux applies the whole repository, and what its Kustomizations are about by these."""
    whole = TENANT.replace("NAME", "whole").replace("path: ./jobs", "path: ./fleet")
    inner = TENANT.replace("NAME", "inner").replace("path: ./jobs", "path: ./fleet/jobs")
    (tmp_path / "fleet" / "jobs").mkdir(parents=True)
    (tmp_path / "queues.yaml").write_text(QUEUES)
    (tmp_path / "fleet" / "whole.yaml").write_text(whole.replace("targetNamespace: SPACE, ", ""))
    (tmp_path / "fleet" / "inner.yaml").write_text(inner.replace("SPACE", "team-b"))
    (tmp_path / "fleet" / "jobs" / "job.yaml").write_text(JOB.replace("NAMESPACE", ""))
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    assert [each.code for each in errors(result)] == ["QUE018"]


def test_a_folder_of_flux_may_be_an_overlay(tmp_path: Path) -> None:
    stage = TENANT.replace("NAME", "lab").replace("path: ./jobs", "path: ./overlays/lab")
    for folder in ("base", "overlays/lab"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "queues.yaml").write_text(QUEUES)
    (tmp_path / "stage.yaml").write_text(stage.replace("SPACE", "team-b"))
    (tmp_path / "base" / "job.yaml").write_text(JOB.replace("NAMESPACE", ""))
    overlay = "namespace: ignored\nresources: [../../base/job.yaml]\n"
    (tmp_path / "overlays" / "lab" / "kustomization.yaml").write_text(overlay)
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    assert [each.code for each in errors(result)] == ["QUE018"]


SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: NAME, namespace: flux-system}
spec: {interval: 1h, url: "https://git.test/NAME"}
"""


@pytest.mark.parametrize(
    ("source", "sources", "found"),
    [
        ("fleet", ["fleet"], ["QUE005"]),
        ("fleet", ["fleet", "charts"], ["QUE005"]),
        ("flux-system", ["flux-system", "tenant"], ["QUE005"]),
        ("tenant", ["flux-system", "tenant"], []),
    ],
)
def test_a_path_in_another_repository_gives_nothing(
    source: str, sources: list[str], found: list[str], tmp_path: Path
) -> None:
    (tmp_path / "queues.yaml").write_text(QUEUES)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(JOB.replace("NAMESPACE", ""))
    stage = TENANT.replace("name: fleet", f"name: {source}")
    text = stage.replace("NAME", "jobs").replace("SPACE", "team-a")
    (tmp_path / "stage.yaml").write_text(
        "---\n".join([text, *(SOURCE.replace("NAME", name) for name in sources)]).replace(
            "GitRepository\nmetadata: {name: charts", "HelmRepository\nmetadata: {name: charts"
        )
    )
    assert [
        each.code for each in errors(lint([tmp_path], Options(today=date(2026, 11, 27))))
    ] == found


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: loki, namespace: monitoring, labels: {team: a}}
spec:
  chart: {spec: {chart: loki, version: 6.30.1, sourceRef: {kind: HelmRepository, name: grafana}}}
"""
INTERVAL = """\
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata: {name: _}
      spec: {interval: 1h}
"""


def stage(name: str, path: str, patches: str = "") -> str:
    """A Kustomization of Flux; ``patches``: a list of YAML, indented by two."""
    return (
        f"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, "
        f"namespace: flux-system}}\nspec:\n  interval: 1h\n  path: ./{path}\n  prune: true\n"
        f"  sourceRef: {{kind: GitRepository, name: fleet}}\n{patches}"
    )


def for_all(patch: str, target: str = "{kind: HelmRelease}") -> str:
    return f"  patches:\n  - target: {target}\n    patch: |\n{patch}"


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def gives_patches() -> str:
    """A patch that gives another Kustomization the patch for its releases."""
    inner = for_all(INTERVAL)
    body = f"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: _}}\nspec:\n{inner}"
    return for_all(indented(body, 6), "{kind: Kustomization}")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"stage.yaml": stage("apps", "apps", for_all(INTERVAL))}, []),
        ({"stage.yaml": stage("apps", "apps")}, ["SCH003"]),
        # Which another one applies that gives no patches.
        (
            {
                "cluster/all.yaml": stage("all", "cluster"),
                "cluster/apps.yaml": stage("apps", "apps", for_all(INTERVAL)),
            },
            [],
        ),
        # That takes it away.
        ({"stage.yaml": stage("apps", "apps", for_all(f"      $patch: delete\n{INTERVAL}"))}, []),
        # That is no text, or of a path that is none.
        ({"stage.yaml": stage("apps", "apps", "  patches: [{patch: 7}]\n")}, ["SCH003", "SCH002"]),
        (
            {"stage.yaml": stage("apps", "apps", for_all(INTERVAL)).replace("./apps", "7")},
            ["SCH003", "SCH002"],
        ),
        # For other releases, or in another folder.
        (
            {
                "stage.yaml": stage(
                    "apps", "apps", for_all(INTERVAL, "{kind: HelmRelease, name: mimir}")
                )
            },
            ["SCH003"],
        ),
        (
            {"stage.yaml": stage("apps", "apps", for_all(INTERVAL, "{labelSelector: team=b}"))},
            ["SCH003"],
        ),
        ({"stage.yaml": stage("apps", "other", for_all(INTERVAL))}, ["SCH003"]),
        # By a kustomization, in whose folder the path ends.
        (
            {
                "stage.yaml": stage("apps", "overlays/lab", for_all(INTERVAL)),
                "overlays/lab/kustomization.yaml": "resources: [../../apps/loki.yaml]\n",
            },
            [],
        ),
        # The Kustomization that has the release gets the patch by another one, which does not apply the release.
        (
            {
                "cluster/all.yaml": stage("all", "cluster", gives_patches()),
                "cluster/apps.yaml": stage("apps", "apps"),
            },
            [],
        ),
        (
            {
                "cluster/all.yaml": stage("all", "elsewhere", gives_patches()),
                "cluster/apps.yaml": stage("apps", "apps"),
            },
            ["SCH003"],
        ),
    ],
)
def test_flux_patches_what_it_applies(
    files: dict[str, str], found: list[str], tmp_path: Path
) -> None:
    for name, text in {**files, "apps/loki.yaml": RELEASE}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    result = lint([tmp_path], Options(today=date(2026, 11, 27)))
    assert [each.code for each in errors(result)] == found
    assert "filled in" not in "".join(result.coverage.lines(findings=True))


def test_kustomizations_of_flux_may_apply_each_other_without_end(tmp_path: Path) -> None:
    folder = tmp_path
    for number in range(60):
        folder = folder / "a"
        folder.mkdir()
        path = "/".join("a" * (number + 2))
        (folder / "stage.yaml").write_text(stage(f"s{number}", path, gives_patches()))
    assert errors(lint([tmp_path], Options(today=date(2026, 11, 27)))) == []


def test_a_finding_in_a_patch_of_flux_is_shown_there(tmp_path: Path) -> None:
    wrong = INTERVAL.replace("interval: 1h", "interval: 1h, intervall: 1h")
    (tmp_path / "stage.yaml").write_text(stage("apps", "apps", for_all(wrong)))
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "loki.yaml").write_text(RELEASE)
    (found,) = errors(lint([tmp_path], Options(today=date(2026, 11, 27))))
    assert found.span is not None
    assert (found.code, Path(found.span.file.name).name) == ("SCH001", "stage.yaml")


def test_a_file_is_judged_as_it_is_applied_where_one_build_differs_in_nothing() -> None:
    def build(*files: str, other: str = "") -> Build:
        return Build(files=set(files), other={other} if other else set())

    made = Builds(
        [], [build("a.yaml", other="x"), build("b.yaml", other="x"), build("b.yaml")], frozenset()
    )
    assert not made.alike("a.yaml")
    assert made.alike("b.yaml")
    assert made.alike("c.yaml")


def test_a_file_that_is_named_as_a_patch_is_one_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(DEPLOYMENT)
    (tmp_path / "more.yaml").write_text(DEPLOYMENT)
    kustomization = "resources: [web.yaml]\npatches: [{path: more.yaml}]\n"
    (tmp_path / "kustomization.yaml").write_text(kustomization)
    found = Kustomizations(read_all([tmp_path]).kustomizations)
    assert found.is_patch(str(tmp_path / "more.yaml"))
    assert not found.is_patch(str(tmp_path / "web.yaml"))
