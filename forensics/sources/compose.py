"""Docker Compose files: which services there are, how often each runs, and what its settings are.

    services:
      api:
        command: uvicorn app:app --workers ${WORKERS:-2}
        environment: { DATABASE_URL: "postgresql://app:${DB_PASSWORD}@db/app" }
        deploy: { replicas: 3 }

Only what a budget needs is read, node by node, so that every value keeps its line. Several files are laid over each other as
``docker compose -f a -f b`` does: mappings are joined, the later value wins.

Reference: https://github.com/compose-spec/compose-spec/blob/main/spec.md
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from forensics.model.errors import UsageError
from forensics.sources import variables
from forensics.sources.variables import Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from yaml.nodes import Node

REMEDY = "give a Compose file that `docker compose config` accepts"
SEPARATORS = ("&&", "||", ";", "|", "&")


@dataclass(slots=True)
class Declared:
    """One service, as the files declare it."""

    name: str
    where: str
    image: str | None = None
    command: Value | None = None
    replicas: Value | None = None
    on_request: Value | None = None
    """Its profiles: it is started only where one is asked for."""
    everywhere: Value | None = None
    """``mode: global``: once on each machine."""
    settings: dict[str, Value] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def words(self) -> list[list[str]]:
        """Return the words of its commands; a shell's argument is taken apart too."""
        text = self.command.text if self.command else None
        return split(text or "")


def split(text: str) -> list[list[str]]:
    """Return the words of each command of a line, those inside ``sh -c "…"`` among them."""
    done: list[list[str]] = [[]]
    for word in words(text):
        for part in words(word) if " " in word else [word]:
            bare = part.rstrip(";")
            if bare and part not in SEPARATORS:
                done[-1].append(bare)
            if part in SEPARATORS or part.endswith(";"):
                done.append([])
    return [command for command in done if command]


def words(text: str) -> list[str]:
    """Split like a shell; a text that a shell would refuse is split at spaces."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


class Reader:
    """One Compose file."""

    def __init__(self, path: Path, name: str, known: Mapping[str, Value]) -> None:
        self.path = path
        self.name = name
        self.known = known
        self.seen: dict[int, dict[str, Node]] = {}
        self.open: set[int] = set()

    def where(self, node: Node) -> str:
        """Return file and line of a node."""
        return f"{self.name}:{node.start_mark.line + 1}"

    def refuse(self, what: str, node: Node) -> UsageError:
        """Return the error for a node that Compose would refuse too."""
        return UsageError(what, where=self.where(node), remedy=REMEDY)

    def mapping(self, node: Node | None) -> dict[str, Node]:
        """Return the entries of a mapping, those that ``<<`` merges in among them; empty for nothing."""
        if node is None or is_nothing(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise self.refuse("a mapping is expected here", node)
        if id(node) in self.seen:
            return self.seen[id(node)]
        if id(node) in self.open:
            raise self.refuse("an alias leads to itself", node)
        self.open.add(id(node))
        own: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                parts = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for part in reversed(parts):
                    merged.update(self.mapping(part))
            elif isinstance(key, yaml.ScalarNode):
                if key.value in own:
                    raise self.refuse(f"{key.value!r} stands here twice", key)
                own[key.value] = value
        self.open.discard(id(node))
        return self.seen.setdefault(id(node), {**merged, **own})

    def items(self, node: Node | None) -> list[Node]:
        """Return the items of a sequence; a single value is a sequence of one."""
        if node is None or is_nothing(node):
            return []
        return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]

    def value(self, node: Node) -> Value:
        """Return a scalar, interpolated."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.refuse("a plain value is expected here", node)
        if is_nothing(node):
            return Value(None, self.where(node))
        return variables.resolve(node.value, self.known, self.where(node))

    def services(self) -> dict[str, Declared]:
        """Return the services of the file; UsageError with the line for what is no Compose file."""
        try:
            root = yaml.compose(self.path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            place = f"{self.name}:{mark.line + 1}" if mark else self.name
            raise UsageError(
                f"not valid YAML ({error.problem})", where=place, remedy="correct the file"
            ) from None
        except (yaml.YAMLError, UnicodeDecodeError):
            raise UsageError("not valid YAML", where=self.name, remedy="save it as UTF-8 text") from None
        except RecursionError:
            raise UsageError("is nested too deeply", where=self.name, remedy=REMEDY) from None
        if not isinstance(root, yaml.MappingNode) or "services" not in (top := self.mapping(root)):
            raise UsageError("has no services", where=self.name, remedy=REMEDY)
        nodes = self.mapping(top["services"])
        return {name: self.service(name, node, nodes, ()) for name, node in nodes.items()}

    def service(self, name: str, node: Node, nodes: Mapping[str, Node], above: tuple[str, ...]) -> Declared:
        """Return one service, laid over the one that it extends."""
        said = self.mapping(node)
        done = Declared(name, self.where(node))
        if "extends" in said:
            self.extend(done, said["extends"], nodes, (*above, name))
        if "image" in said:
            done.image = self.value(said["image"]).text
        if "command" in said and not is_nothing(said["command"]):
            parts = [self.value(item) for item in self.items(said["command"])]
            listed = isinstance(said["command"], yaml.SequenceNode)
            join = shlex.join if listed else "".join
            done.command = variables.joined(parts, self.where(said["command"]), join)
        for item in self.items(said.get("env_file")):
            self.read_settings(done, item)
        done.settings.update(self.environment(said.get("environment")))
        deploy = self.mapping(said.get("deploy"))
        for key, owner in (("scale", said), ("replicas", deploy)):
            if key in owner:
                done.replicas = self.value(owner[key])
        if "mode" in deploy and self.value(deploy["mode"]).text == "global":
            done.everywhere = Value("global", self.where(deploy["mode"]))
        if profiles := self.items(said.get("profiles")):
            names = ", ".join(self.value(item).text or "" for item in profiles)
            done.on_request = Value(names, self.where(profiles[0]))
        return done

    def extend(self, done: Declared, node: Node, nodes: Mapping[str, Node], above: tuple[str, ...]) -> None:
        """Begin with what another service of this file declares."""
        said = self.mapping(node) if isinstance(node, yaml.MappingNode) else {"service": node}
        base = self.value(said["service"]).text if "service" in said else None
        if "file" in said or base not in nodes:
            done.notes.append(
                f"{self.where(node)}: what {done.name} extends is in another file and was not read"
            )
            return
        assert base is not None
        if base in above:
            raise self.refuse(f"{base!r} extends itself", node)
        overlay(done, self.service(base, nodes[base], nodes, above))

    def environment(self, node: Node | None) -> dict[str, Value]:
        """Return ``environment``, written as a mapping or as a list of ``NAME=VALUE``."""
        if isinstance(node, yaml.SequenceNode):
            found = {}
            for item in node.value:
                value = self.value(item)
                name, equals, text = (value.text or "").partition("=")
                whole = value.part(text, lambda outline: outline.partition("=")[2])
                found[name] = whole if equals else variables.handed(name, self.known, value.where)
            return found
        given = self.mapping(node)
        return {
            name: value
            if (value := self.value(item)).text is not None
            else variables.handed(name, self.known, value.where)
            for name, item in given.items()
        }

    def read_settings(self, done: Declared, node: Node) -> None:
        """Read an ``env_file``, which lies beside the Compose file."""
        said = self.mapping(node) if isinstance(node, yaml.MappingNode) else {"path": node}
        named = self.value(said["path"]).text if "path" in said else None
        if not named or variables.unset(named):
            return
        path = self.path.parent / named
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            done.notes.append(f"{self.where(node)}: the env_file of {done.name}, {named}, cannot be read")
            return
        name = re.sub(r"^(?:\./)+", "", named)
        folder = self.name.rpartition("/")[0]
        name = f"{folder}/{name}" if folder else name.rpartition("/")[2] if path.is_absolute() else name
        done.settings.update(variables.parse(text, name, self.known))


def is_nothing(node: Node) -> bool:
    """Is a node null, or reset by an override?"""
    return node.tag in ("tag:yaml.org,2002:null", "!reset")


def overlay(under: Declared, over: Declared) -> None:
    """Lay what a later file says over what an earlier one said."""
    for key in ("image", "command", "replicas", "on_request", "everywhere"):
        if getattr(over, key) is not None:
            setattr(under, key, getattr(over, key))
    under.settings.update(over.settings)
    under.notes.extend(over.notes)
