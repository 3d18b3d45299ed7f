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


def written(name: str, text: str, payload: str) -> str:
    """Put a payload into a file as its format would have written it: escaped in JSON and TOML, on one line elsewhere."""
    if name.endswith((".jsonl", ".toml")):
        return text.replace("PAYLOAD", json.dumps(payload)[1:-1].replace("\x7f", "\\u007f"))
    line = re.sub(r"[\r\n]+", " ", payload)
    return text.replace("ROUTE", quote(line, safe=ROUTE_KEEPS)).replace("PAYLOAD", line.replace('"', "\\x22"))


def place(folder: Path, payload: str) -> tuple[Path, Path]:
    """Write the inputs and the case file; one input bears the payload in its name, too. Return both places."""
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    for path in sorted((FOLDER / "inputs").iterdir()):
        named = f"{IN_A_NAME.sub('_', payload)[:60]}.log" if path.name == "edge.log" else path.name
        inputs.joinpath(named).write_text(
            written(path.name, path.read_text("utf-8"), payload), "utf-8", newline=""
        )
    case = folder / "case.toml"
    case.write_text(written("case.toml", (FOLDER / "case.toml").read_text("utf-8"), payload), "utf-8")
    return inputs, case
