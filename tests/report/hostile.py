"""The hostile fixture: its inputs with one text wherever an input has a text of its own."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from urllib.parse import quote

FOLDER = Path(__file__).parents[2] / "fixtures" / "hostile"
PAYLOADS: dict[str, str] = tomllib.loads((FOLDER / "payloads.toml").read_text("utf-8"))
PAYLOADS["all"] = " ".join(["=1+1", *PAYLOADS.values()])
HARMLESS = "x"
ROUTE_KEEPS = "<>{}|*_#@!()[];:,$='\\^~%./"
"""What of a text a client may send in a route as it is."""
IN_A_NAME = re.compile(r"[/\0]")
IN_A_COMMAND = re.compile(r"[\r\n()]")
"""What the kernel escapes, or what ends the name of a command in its message."""


def written(name: str, text: str, payload: str) -> str:
    """Put a payload into a file as its format would have written it: escaped in JSON and TOML, on one line elsewhere."""
    line = re.sub(r"[\r\n]+", " ", payload)
    route, command = quote(line, safe=ROUTE_KEEPS), IN_A_COMMAND.sub(" ", payload)[:15]
    if name.endswith((".jsonl", ".toml")):
        places = {"ROUTE": quoted(route), "COMMAND": quoted(command), "PAYLOAD": quoted(payload)}
    else:
        places = {"ROUTE": route, "COMMAND": command, "PAYLOAD": line.replace('"', "\\x22")}
    return re.sub("|".join(places), lambda found: places[found[0]], text)


def quoted(text: str) -> str:
    """Return a text as it stands in a JSON or TOML string."""
    return json.dumps(text)[1:-1].replace("\x7f", "\\u007f")


def place(folder: Path, payload: str) -> tuple[Path, Path]:
    """Write the inputs and the case file; one input bears the payload in its name, too. Return both places."""
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    for path in sorted((FOLDER / "inputs").iterdir()):
        named = f"edge {IN_A_NAME.sub('_', payload)[:60]}.log" if path.name == "edge.log" else path.name
        inputs.joinpath(named).write_text(
            written(path.name, path.read_text("utf-8"), payload), "utf-8", newline=""
        )
    case = folder / "case.toml"
    case.write_text(written("case.toml", (FOLDER / "case.toml").read_text("utf-8"), payload), "utf-8")
    return inputs, case
