"""Modules in the native syntax of Terraform: judged as those in JSON are, with findings at their lines."""

from __future__ import annotations

import copy
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from native import native
from running import Command
from trainyard.extensions.terraform.formats.terraform.native import parsed
from trainyard.language.places import SourceFile

from subjects.test_terraform import SETS, by_terraform, of_format
from tests.builders import plan_of

pytestmark = pytest.mark.needs("lint")
MODULES = Path(__file__).parent / "modules"
THIRD_PARTY = json.loads((MODULES / "main.tf.json").read_text())
GROUPS = json.loads((MODULES / "groups.tf.json").read_text())


def said(trainyard: Command, folder: Path, name: str, text: str) -> list[dict[str, Any]]:
    (folder / name).write_text(text)
    done = trainyard("lint", "--format=json", name, cwd=folder)
    found: list[dict[str, Any]] = json.loads(done.out)["diagnostics"]
    return found


def verdict(found: list[dict[str, Any]]) -> Counter[tuple[str, str, str]]:
    return Counter((each["code"], each["message"], each["help"]) for each in found)


@pytest.mark.parametrize("body", [THIRD_PARTY, GROUPS], ids=["third party", "groups"])
def test_both_spellings_get_one_verdict(
    body: dict[str, Any], tmp_path: Path, trainyard: Command
) -> None:
    in_json = verdict(said(trainyard, tmp_path, "main.tf.json", json.dumps(body)))
    assert len(in_json) > 3
    assert verdict(said(trainyard, tmp_path, "main.tf", native(body))) == in_json


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_our_own_modules_read_the_same(name: str) -> None:
    modules = of_format(plan_of(by_terraform(SETS[name])), "terraform")
    assert modules
    for module in modules:
        document, faults = parsed(SourceFile("main.tf", native(module.body)))
        assert faults == []
        assert document is not None
        read = document.root.to_python()
        wanted = {key: value for key, value in module.body.items() if key != "//"}
        assert flat(read) == flat(copy.deepcopy(wanted))


def flat(value: Any) -> Any:
    """A body as both syntaxes have it: a list of one block is the block, and comments are none."""
    if isinstance(value, dict):
        return {key: flat(item) for key, item in value.items() if key != "//"}
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict):
            return flat(value[0])
        return [flat(item) for item in value]
    return value


TEXT = """\
# a module as people write it
variable "groups" { type = map(object({ size = number })) }

resource "aws_eks_node_group" "gpu" {
  for_each        = { for name, group in var.groups : name => group if group.size > 0 }
  cluster_name    = "lab"
  node_role_arn   = aws_iam_role.nodes.arn
  subnet_ids      = var.subnets[*].id # of one zone
  instance_types  = ["p5.48xlarge"]
  ami_type        = "AL2023_x86_64_STANDARD"
  scaling_config {
    desired_size = var.size > 4 ? var.size : 4
    max_size     = "many"
    min_size     = 0
  }
  tags = merge(local.tags, { "a.b" = "${var.name}-${each.key}", (var.key) : "x" })
}

resource "aws_iam_policy" "all" {
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "*", Resource = "arn:${data.aws_partition.this.partition}:s3:::a" }]
  })
}

resource "aws_iam_policy" "of_a_document" {
  policy = data.aws_iam_policy_document.this.json
}

resource "aws_launch_template" "gpu" {
  image_id  = data.aws_ami.gpu.id
  user_data = base64encode(<<-EOT
    #!/bin/bash
    ulimit -l unlimited
  EOT
  )
  metadata_options { http_tokens = "optional" }
  dynamic "block_device_mappings" {
    for_each = var.disks
    content { device_name = block_device_mappings.value }
  }
}
"""


def test_what_people_write_is_judged_at_its_line(tmp_path: Path, trainyard: Command) -> None:
    lines = TEXT.splitlines()
    found = {
        each["code"]: (lines[each["place"]["line"] - 1].strip(), each["place"]["column"])
        for each in said(trainyard, tmp_path, "main.tf", TEXT)
    }
    assert found["SCH002"] == ('max_size     = "many"', 20)
    assert found["HLT040"] == ('ami_type        = "AL2023_x86_64_STANDARD"', 21)
    assert found["ACC006"] == ("policy = jsonencode({", 3)
    assert found["ACC043"] == ('metadata_options { http_tokens = "optional" }', 36)
    assert len(found) == 4, found


BROKEN = {
    'a = ["x"\n': (1, 5, "the file ends before `,`"),
    'resource "a" "b" {\n  x = 1\n': (1, 10, "the block `resource` is not closed"),
    'resource "a" "b" {\n  x = "a\n}\n': (2, 7, "a text in quotes is not closed in its line"),
    "a = <<EOT\nx\n": (1, 5, "`<<EOT` is not closed"),
    "a = {\n  b = \n}\n": (3, 1, "`}` where a value is expected"),
    'a = "${b"\n': (1, 9, "a text in quotes is not closed in its line"),
    "a = f(1\n": (1, 6, "`(` is not closed"),
    "a = f(1]\n": (1, 8, "`]` where `)` is expected"),
    "a = 1\na = 2\n": (2, 1, "`a` is set twice"),
    "}\n": (1, 1, "`}` closes nothing"),
    "= 1\n": (1, 1, "`=` where an argument or a block is expected"),
    "a { b = 1, c = 2 }\n": (1, 10, "`,` where the end of the line is expected"),
    "/* a\n": (1, 1, "`/` where an argument or a block is expected"),
    "a = 1 /* b\n": (1, 7, "a comment is not closed"),
    "a = " + "[" * 200: (1, 105, "more than 100 levels within each other"),
    "a = " + "f(" * 200: (1, 207, "more than 100 levels within each other"),
    'a = "' + '${"' * 200: (1, 155, "more than 100 levels within each other"),
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:24])
def test_what_cannot_be_parsed_has_a_place(text: str, tmp_path: Path, trainyard: Command) -> None:
    line, column, message = BROKEN[text]
    _, faults = parsed(SourceFile("main.tf", text))
    (fault,) = faults
    assert fault.span is not None
    assert (fault.code, fault.span.line, fault.span.column) == ("LNT010", line, column)
    assert fault.message.startswith(message)
    assert fault.help
    whole = f'{text}\nresource "aws_s3_bucket" "a" {{}}\n'
    assert said(trainyard, tmp_path, "main.tf", whole)[0]["code"] == "LNT010"


READ = {
    'a = "x\\n\\"${b["c"]}\\" $${d} \\u00e9"': 'x\n"${b["c"]}" $${d} é',
    'a = "${x}"': "${x}",
    "a = var.x": "${var.x}",
    "a = -1.5e3": -1500.0,
    "a = 1 + 2": "${1 + 2}",
    "a = null": None,
    "a = [1,\n  true, # b\n  \"c\"\n]": [1, True, "c"],
    "a = [for b in c : b]": "${[for b in c : b]}",
    "a = { b = 1, \"c\" : 2\n (d) = 3\n aws.e = aws.f }": {"b": 1, "c": 2, "${(d)}": 3, "aws.e": "${aws.f}"},
    "a = <<-E\n    x\n      y\n  E": "x\n  y\n",
    "a = <<E\r\nx\r\nE\r\n": "x\n",
    "a = f({ b = \"}\" }) # )": '${f({ b = "}" })}',
    "a = b ? c : d // e": "${b ? c : d}",
    "a = jsonencode([1, { b = c }])": '[1, {"b": "${c}"}]',
    "a = true ? 1 : 2": "${true ? 1 : 2}",
    "\ufeffa = 1 /* b */": 1,
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_a_value_is_read(text: str) -> None:
    document, faults = parsed(SourceFile("main.tf", text))
    assert faults == []
    assert document is not None
    assert document.root.to_python() == {"a": READ[text]}


@pytest.mark.parametrize(
    "text",
    [
        "a = [" + "\n" * 200_000,
        "".join(f"a{number} = <<A\nx\nA\n" for number in range(10_000)),
        "a = 1 " + "/* */ " * 100_000,
        "a = " + "b ? c : " * 100_000 + "d",
        'a = "' + "$" * 200_000,
        "a = [" * 90 + "1" + "] + 1" * 90,
    ],
    ids=["lines", "documents", "comments", "conditions", "dollars", "nested"],
)
def test_a_text_of_any_size_takes_time_by_its_length(text: str) -> None:
    before = time.process_time()
    parsed(SourceFile("main.tf", text))
    assert time.process_time() - before < 3


def test_files_without_resources_of_aws_are_counted_as_before(
    tmp_path: Path, trainyard: Command
) -> None:
    (tmp_path / "variables.tf").write_text('variable "a" {}\n')
    (tmp_path / "main.tf").write_text(
        'resource "aws_placement_group" "a" {\n  name = "a"\n  strategy = "cluster"\n}\n'
    )
    done = trainyard("lint", ".", cwd=tmp_path)
    assert done.code == 0
    assert re.search(r"1 file of another format \(1 \.tf\)|1 \.tf", done.err + done.out)
