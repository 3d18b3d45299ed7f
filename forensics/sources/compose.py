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
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from forensics.model.errors import UsageError
from forensics.sources import variables
from forensics.sources.variables import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yaml.nodes import Node

REMEDY = "give a Compose file that `docker compose config` accepts"
RESET = {
    "command": ["command"], "entrypoint": ["entrypoint"], "environment": ["settings"], "env_file": ["settings"],
    "deploy": ["replicas", "everywhere", "order", "parallelism"], "scale": ["replicas"], "profiles": ["on_request"],
}  # fmt: skip
"""Key to what is taken back with it; settings of ``environment`` and of files are kept together, and so are taken back together."""
SEPARATORS = ("&&", "||", ";", "|", "&")


@dataclass(slots=True)
class Declared:
    """One service, as the files declare it."""

    name: str
    where: str
    image: str | None = None
    entrypoint: Value | None = None
    command: Value | None = None
    replicas: Value | None = None
    on_request: Value | None = None
    """Its profiles: it is started only where one is asked for."""
    everywhere: Value | None = None
    """``mode: global``: once on each machine."""
    order: Value | None = None
    """Whether an update starts the new replica before it stops the old one (``start-first``) or behind it."""
    parallelism: Value | None = None
    """How many replicas are updated at a time."""
    settings: dict[str, Value] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    cleared: set[str] = field(default_factory=set)
    """What it takes back of an earlier file (``!reset``) or puts in its place (``!override``)."""

    def started(self) -> list[Value]:
        """Return what is run, the entrypoint before the command; ``$NAME`` in them is what a shell of the container makes of it."""
        return [
            variables.within(part, self.settings)
            for part in (self.entrypoint, self.command)
            if part is not None
        ]

    def words(self) -> list[list[str]]:
        """Return the words of its commands; a shell's argument is taken apart too."""
        return split(" ".join(part.text or "" for part in self.started()))


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

    def __init__(
        self, path: Path, name: str, known: Mapping[str, Value], above: tuple[Path, ...] = ()
    ) -> None:
        self.path = path
        self.above = above or (path.resolve(),)
        self.name = name
        self.known = known
        self.seen: dict[int, dict[str, Node]] = {}
        self.open: set[int] = set()
        self.notes: list[str] = []

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

    def nodes(self) -> dict[str, Node]:
        """Return the entries of the file; UsageError with the line for what is no Compose file."""
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
        top = self.mapping(root) if isinstance(root, yaml.MappingNode) else {}
        if "services" not in top and "include" not in top:
            raise UsageError("has no services", where=self.name, remedy=REMEDY)
        return top

    def services(self) -> dict[str, Declared]:
        """Return the services of the file, and of those that it includes."""
        top = self.nodes()
        nodes = self.mapping(top.get("services"))
        found = {}
        for node in self.items(top.get("include")):
            found.update(self.included(node))
        return found | {name: self.service(name, node, nodes, ()) for name, node in nodes.items()}

    def included(self, node: Node) -> dict[str, Declared]:
        """Return the services of the files that ``include`` names, the later laid over the earlier."""
        said = self.mapping(node) if isinstance(node, yaml.MappingNode) else {"path": node}
        found: dict[str, Declared] = {}
        for item in self.items(said.get("path")):
            other = self.beside(item)
            for name, declared in (other.services() if other else {}).items():
                if name in found:
                    overlay(found[name], declared)
                else:
                    found[name] = declared
        return found

    def beside(self, node: Node) -> Reader | None:
        """Return the reader of another Compose file, which lies where its name says from here; None, with a remark, where it does not.

        Raises UsageError where files lead to each other.
        """
        named = self.value(node).text or ""
        path = self.path.parent / named
        if path.resolve() in self.above:
            raise self.refuse("a file leads to itself", node)
        if variables.unset(named) or not path.is_file():
            self.notes.append(f"{self.where(node)}: the Compose file that is named here cannot be read")
            return None
        other = Reader(path, self.name_of(named), self.known, (*self.above, path.resolve()))
        other.notes = self.notes
        return other

    def name_of(self, named: str) -> str:
        """Return how a file that is named here is called in outputs."""
        name = re.sub(r"^(?:\./)+", "", named)
        folder = self.name.rpartition("/")[0]
        absolute = (self.path.parent / named) == Path(named)
        return f"{folder}/{name}" if folder else name.rpartition("/")[2] if absolute else name

    def service(self, name: str, node: Node, nodes: Mapping[str, Node], above: tuple[str, ...]) -> Declared:
        """Return one service, laid over the one that it extends."""
        said = self.mapping(node)
        done = Declared(name, self.where(node))
        if "extends" in said:
            self.extend(done, said["extends"], nodes, (*above, name))
        if "image" in said:
            done.image = self.value(said["image"]).text
        done.entrypoint = self.started(said.get("entrypoint")) or done.entrypoint
        done.command = self.started(said.get("command")) or done.command
        for key, attributes in RESET.items():
            if key in said and said[key].tag in ("!reset", "!override"):
                done.cleared.update(attributes)
        for item in self.items(said.get("env_file")):
            self.read_settings(done, item)
        done.settings.update(self.environment(said.get("environment")))
        self.copies(done, said)
        if profiles := self.items(said.get("profiles")):
            names = ", ".join(self.value(item).text or "" for item in profiles)
            done.on_request = Value(names, self.where(profiles[0]))
        return done

    def copies(self, done: Declared, said: Mapping[str, Node]) -> None:
        """Read how often a service runs."""
        deploy = self.mapping(said.get("deploy"))
        for key, owner in (("scale", said), ("replicas", deploy)):
            if key in owner and is_nothing(owner[key]):
                done.cleared.update(["replicas"] if owner[key].tag == "!reset" else [])
            elif key in owner:
                done.replicas = self.value(owner[key])
        if "mode" in deploy and self.value(deploy["mode"]).text == "global":
            done.everywhere = Value("global", self.where(deploy["mode"]))
        self.updates(done, deploy.get("update_config"))

    def updates(self, done: Declared, node: Node | None) -> None:
        """Read how a service is updated."""
        if node is not None and node.tag in ("!reset", "!override"):
            done.cleared.update(["order", "parallelism"])
        said = self.mapping(node)
        if "order" in said:
            done.order = self.value(said["order"])
        if "parallelism" in said:
            done.parallelism = self.value(said["parallelism"])

    def started(self, node: Node | None) -> Value | None:
        """Return a command, written as a text or as a list; None where there is none."""
        if node is None or is_nothing(node):
            return None
        parts = [self.value(item) for item in self.items(node)]
        join = shlex.join if isinstance(node, yaml.SequenceNode) else "".join
        return variables.joined(parts, self.where(node), join)

    def extend(self, done: Declared, node: Node, nodes: Mapping[str, Node], above: tuple[str, ...]) -> None:
        """Begin with what another service declares, of this file or of one that is named."""
        said = self.mapping(node) if isinstance(node, yaml.MappingNode) else {"service": node}
        base = (self.value(said["service"]).text if "service" in said else None) or ""
        reader: Reader = self
        if "file" in said and not self.is_own(said["file"]):
            other = self.beside(said["file"])
            if other is None:
                return
            reader, nodes, above = other, other.mapping(other.nodes().get("services")), ()
        if base not in nodes:
            raise self.refuse(f"there is no service {base!r} to extend", node)
        if base in above:
            raise self.refuse(f"{base!r} extends itself", node)
        overlay(done, reader.service(base, nodes[base], nodes, above))

    def is_own(self, node: Node) -> bool:
        """Is the file that is named here this one?"""
        return (self.path.parent / (self.value(node).text or "")).resolve() == self.path.resolve()

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
        done.settings.update(variables.parse(text, self.name_of(named), self.known))


def is_nothing(node: Node) -> bool:
    """Is a node null, or reset by an override?"""
    return node.tag in ("tag:yaml.org,2002:null", "!reset")


def overlay(under: Declared, over: Declared) -> None:
    """Lay what a later file says over what an earlier one said."""
    for attribute in over.cleared:
        setattr(under, attribute, {} if attribute == "settings" else None)
    for key in (
        "image",
        "entrypoint",
        "command",
        "replicas",
        "on_request",
        "everywhere",
        "order",
        "parallelism",
    ):
        if getattr(over, key) is not None:
            setattr(under, key, getattr(over, key))
    under.settings.update(over.settings)
    under.notes.extend(over.notes)
