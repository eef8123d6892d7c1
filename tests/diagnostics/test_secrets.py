"""What is a secret, and what only looks like one; and that none is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.render import render
from trainyard.language.diagnostics.secrets import (
    ENDS,
    NAMES,
    carried,
    forms,
    literal,
    masked,
    named,
    named_values,
)

pytestmark = pytest.mark.needs("lint")

DIGEST = "1f6d1b2f0e6f4c1f9d0c5a7b8e3d2c4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"
TOKENS = [
    ("hf_abcdefghijklmnopqrstuvwxyz", "a token of Hugging Face"),
    ("AKIA0123456789ABCDEF", "an access key of AWS"),
    ("ASIA0123456789ABCDEF", "an access key of AWS"),
    ("ghp_" + "a1" * 18, "a token of GitHub"),
    ("github_pat_11ABCDEFG0_" + "a1" * 20, "a token of GitHub"),
    ("glpat-abcdefghij0123456789", "a token of GitLab"),
    ("xoxb-123456789012-abcdef", "a token of Slack"),
    ("xapp-1-A0123456789-abcdef", "a token of Slack"),
    ("https://hooks.slack.com/services/T0123/B0123/abcdefghij0123456789", "a webhook of Slack"),
    ("sk-proj-Abcdefghij0123456789", "an API key"),
    ("nvapi-Abcdefghij0123456789", "an API key"),
    ("pypi-AgEIcHlwaS5vcmcCJD0123456789", "an API key"),
    ("AIza" + "a" * 35, "an API key of Google"),
    ("dckr_pat_abcdefghij0123456789", "a token of Docker Hub"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl", "a signed token"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
    ("-----BEGIN PRIVATE KEY-----", "a private key"),
    ("AGE-SECRET-KEY-1" + "A1" * 20, "a key of age"),
    ("Authorization: Basic bWU6aHVudGVyMjI=", "the credentials of a header"),
    ("Authorization: Bearer 0123456789abcdef", "the credentials of a header"),
    ("https://me:hunter22@pypi.example/simple", "the password of a URL"),
    ("redis://:hunter22@cache:6379/0", "the password of a URL"),
    ("http://user:pass4@cache:6379/0", "the password of a URL"),
    ("http://user:hunter22@cache:6379/0", "the password of a URL"),
    ("git+https://oauth2:0123abcd@git.example/a.git", "the password of a URL"),
]
INNOCENT = [
    f"registry.example/train@sha256:{DIGEST}",
    f"docker://alpine:3.19@sha256:{DIGEST}",
    f"oci://registry.example:5000/train@sha256:{DIGEST}",
    "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d",
    "git@github.com:team/repository.git",
    "ssh://git@github.com/team/repository.git",
    "arn:aws:iam::111122223333:role/AKIA",
    "arn:aws:secretsmanager:us-west-2:111122223333:secret:hf-token-AbCdEf",
    "AKIAIOSFODNN7EXAMPLE",
    'echo "-----BEGIN OPENSSH PRIVATE KEY-----"',
    "AROA0123456789ABCDEF",
    "registry.example/pypi-mirror-of-the-platform-team:1.0",
    "sk-learn-training-on-cpu-nodes-2",
    "https://$(USER):$(PASSWORD)@pypi.example/simple",
    "https://<user>:<password>@pypi.example/simple",
    "https://{user}:{password}@pypi.example/simple",
    "http://user:pass@proxy.example:8080",
    "postgresql://Username:Password@db/mlflow",
    "Authorization: Bearer $(TOKEN)",
    "Basic authentication of the gateway",
    "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0",
    "cr-0a1b2c3d4e5f60718",
    "hf_home",
    "-----BEGIN CERTIFICATE-----",
]


@pytest.mark.parametrize(("text", "what"), TOKENS)
def test_a_token_is_found_by_its_form_and_masked(text: str, what: str) -> None:
    line = f"  - {text} # of the team"
    assert forms(line) == (what,)
    shown = masked(line)
    assert len(shown) == len(line)
    assert forms(shown) == ()
    assert "***" in shown


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert forms(text) == ()
    assert masked(text) == text
    assert carried("IMAGE", text) == ""


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "WANDB_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "password",
        "adminPassword",
        "secretAccessKey",
        "db-password",
        "clientSecret",
        "OPENAI_APIKEY",
    ],
)
def test_names_that_carry_credentials(name: str) -> None:
    assert named(name)
    assert carried(name, "hunter2") == "a secret"
    for reference in ("", "$(VALUE)", "${VALUE}", "{{ .Values.x }}", "/secrets/value"):
        assert carried(name, reference) == ""
    assert "hunter2" not in masked(f"{name}: hunter2")
    assert masked(f"{name}: !!str &a hunter2") == f"{name}: !!str &a *******"
    assert "pw" not in masked(f'{{"{name}": "pw"}}')


@pytest.mark.parametrize(
    "name",
    [
        "TOKENIZERS_PARALLELISM",
        "PAD_TOKEN",
        "existingSecret",
        "passwordKey",
        "passwordSecretRef",
        "SSH_AUTH_SOCK",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "max_tokens",
        # What refers to a Secret: of charts, of Crossplane, of annotations.
        "existingSecretAdminPassword",
        "existingSecretSecretKey",
        "apiKeySecretKey",
        "fromConnectionSecretKey",
        "pemSecretKey",
        "cnpg.io/pluginClientSecret",
    ],
)
def test_names_that_do_not(name: str) -> None:
    assert not named(name)
    assert carried(name, "<|endoftext|>") == ""
    assert carried(name, "some-words") == ""


@pytest.mark.parametrize("name", [*NAMES, *ENDS])
def test_no_name_is_passed_over(name: str) -> None:
    """The quick look at the end of a name lets each of the names through."""
    assert carried(name.lower(), "0a1b2c3d4e5f60718293") == "a secret"


@pytest.mark.parametrize("name", [name.removeprefix("_") for name in NAMES])
@pytest.mark.parametrize("sign", ["=", ": ", '": "'])
def test_no_name_in_a_text_is_passed_over(name: str, sign: str) -> None:
    """The quick look at a text lets each of the names through, in either case, and with `-` for `_`."""
    for form in (name, name.lower(), name.lower().replace("_", "-")):
        assert named_values(f"{form}{sign}hunter22") == [form]


def test_a_token_is_hidden_wherever_a_diagnostic_has_it() -> None:
    token = f"ghp_{'0a1b2c3d' * 4}0a1b"
    found = Diagnostic(
        "ORG001",
        Severity.ERROR,
        f"a message with {token}",
        help=f"a help with {token}",
        notes=(f"a note with {token}", "another note"),
    )
    for format in ("text", "json", "github"):
        shown = render(format, [found], tool_version="1")
        assert token not in shown
        for kept in ("a message with", "a help with", "a note with", "another note"):
            assert kept in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MYSQL_ALLOW_EMPTY_PASSWORD", "yes"),
        ("MYSQL_RANDOM_ROOT_PASSWORD", "1"),
        ("WANDB_API_KEY", "..."),
        ("OPENAI_API_KEY", "EMPTY"),  # vLLM, OpenAI-compatible server
        ("OPENAI_API_KEY", "not-needed"),
        ("OPENAI_API_KEY", "local"),
        ("X-API-KEY", ".+"),  # any, of a route
        ("clientSecret", "VIKUNJA_CLIENT_SECRET_PLACEHOLDER"),
        ("clientSecret", "OAUTH_CLIENT_SECRET"),  # the key of a Secret
        ("HF_TOKEN", "op://training/huggingface/token"),  # 1Password, secret references
        ("HF_TOKEN", "HF_TOKEN"),
    ],
)
def test_a_switch_or_what_is_to_be_written_is_no_secret(name: str, value: str) -> None:
    assert carried(name, value) == ""
    assert carried(name, f"hunter2{value}") == "a secret"


def test_a_random_value_of_a_token_is_a_secret() -> None:
    assert carried("REGISTRY_TOKEN", "0a1b2c3d4e5f60718293") == "a secret"
    assert carried("githubConfigSecret", "k8s-homelab-runner-secret") == ""
    assert carried("githubConfigSecret", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9") == "a secret"
    assert carried("REGISTRY_DIGEST", "0a1b2c3d4e5f60718293") == ""
    assert carried("checksum/registry_token", "0a1b2c3d4e5f60718293") == ""
    assert carried("PAD_TOKEN", "<|reserved_special_token_10|>") == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("WANDB_API_KEY=0123456789abcdef0123", ["WANDB_API_KEY"]),
        ("export DB_PASSWORD=hunter22\nrun", ["DB_PASSWORD"]),
        ("password: hunter22", ["password"]),
        ("passwd: hunter22", ["passwd"]),
        ("passwd: files", []),  # nsswitch.conf
        ('api_key = "0123456789"', ["api_key"]),
        ('{"adminPassword": "hunter22"}', ["adminPassword"]),
        ("api_key = os.environ['WANDB_API_KEY']", []),
        ("login(api_key=get_key(), access_token=hub_token)", []),
        ("client = Client(api_key=settings.api_key)", []),
        ('{"password": password}', []),
        ('password: "{password}"', []),
        ("password: ${PASSWORD}", []),
        ("password: /run/secrets/password", []),
        ("password: REPLACE_ME", []),
        ("api_key: !env_var RADARR_API_KEY", []),
        ("password: https://grafana.{{PASSWORD}}/login", []),
        ("reset_password:\n  jwt_lifespan: 5m", []),
        ("passwordSecretKey: root-password\nadminPassword: hunter22", ["adminPassword"]),
        ("api_key: Required (no default)", []),
        ("api_key: Whatever it asks for", []),
        ("api_key: Swordfish", ["api_key"]),
        ("api_key: Swordfish # of the lab", ["api_key"]),
        ("api_key: swordfish and more", ["api_key"]),
        ("API_KEY=Swordfish python train.py", ["API_KEY"]),
    ],
)
def test_values_in_a_text(text: str, names: list[str]) -> None:
    assert named_values(text) == names


def test_what_stands_for_a_value_elsewhere() -> None:
    assert literal("hunter2")
    assert literal("pa$$word")
    assert not literal("$${RUSTFS_KEY}")  # a variable after Flux has replaced its own
    assert literal("5$")
    for reference in ("ENC[AES256_GCM,data:x]", "arn:aws:x", "<token>", "null", "*****"):
        assert not literal(reference)


SET = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: mlflow, namespace: team-a}
spec:
  selector: {matchLabels: {app: mlflow}}
  template:
    metadata: {labels: {app: mlflow}}
    spec:
      containers:
        - name: mlflow
          image: registry.example/mlflow:3.1
          args:
            - --backend-store-uri=postgresql://mlflow:swordfish9@db/mlflow
          env:
            - name: DB_PASSWORD
              value: swordfish9
            - name: HEADER
              value: "Authorization: Basic c3dvcmRmaXNo=="
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: team-a}
stringData:
  anything: |
    swordfish9
data:
  more: c3dvcmRmaXNo==
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: loki, namespace: team-a}
spec:
  interval: 1h
  chart: {spec: {chart: loki, version: 6.49.0, sourceRef: {kind: HelmRepository, name: grafana}}}
  values:
    gateway:
      basicAuth:
        password:
          swordfish9
    config: |
      s3:
        secretAccessKey: swordfish9swordfish9
    smtp:
      password: "swordfish9
        and swordfish9"
    imap:
      "password" : swordfish9
        and swordfish9
    pop: {user: a, password: "swordfish9
      and swordfish9"}
    more:
      - "--password=swordfish9
        and swordfish9"
"""


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_no_format_shows_a_secret(format: str, trainyard: Command, tmp_path: Path) -> None:
    """Neither in the fact nor in the line, whether its name stands on the same line or not."""
    (tmp_path / "set.yaml").write_text(SET)
    done = trainyard("lint", "--format", format, "set.yaml", cwd=tmp_path)
    shown = done.out + done.err
    assert shown.count("ACC014") >= 9
    assert "swordfish9" not in shown
    assert "c3dvcmRmaXNo" not in shown
