"""How a line travelled: container engines, orchestrators, platforms and aggregators, beyond what their samples show."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from forensics import formats, pipeline
from forensics.ingest import plan
from forensics.model.plug import Transport
from forensics.model.schema import RECORDS
from forensics.sources import streams
from forensics.sources.discovery import Input

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.plug import Parsed

TRANSPORTS = formats.all_transports()
OWN = {
    name: plug
    for name, plug in TRANSPORTS.items()
    if plug.samples and not plug.declined and not name.startswith("journal")
}
ID = "9638435b57969753f89a821fbe4d51f05e8c24e23322845b85d04180500173b6"


def parsed(name: str, data: str | bytes) -> Parsed:
    """Read data as a format, as a file that begins with it."""
    raw = data.encode() if isinstance(data, str) else data
    return TRANSPORTS[name].for_head(raw).parse(raw)


def rows(name: str, data: str | bytes, *columns: str) -> list[tuple[object, ...]]:
    """Return some columns of the records of data."""
    records = parsed(name, data).records
    assert records is not None
    return records.select(columns).rows()


def at(text: str) -> int:
    """Return an instant in microseconds."""
    moment = dt.datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


def planned(tmp_path: Path, name: str, data: str | bytes) -> plan.Plan:
    """Plan a file of a name that may hold folders."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return plan.recognise(Input(path, path.name), 0)


def counts(one: Parsed) -> tuple[int, int, int, int | None]:
    """Return the conservation counts."""
    return one.in_records, one.blank, one.unparsed, one.first_unparsed


class TestDockerJson:
    """Docker's json-file driver."""

    LINE = '{"log":"ready\\n","stream":"stdout","time":"2026-11-29T12:33:44.25383989Z"}\n'

    def test_service_is_the_name_in_the_configuration_beside_it(self, tmp_path: Path) -> None:
        """`config.v2.json` beside a log names its container, under either name that it has."""
        (tmp_path / f"{ID}.config.v2.json").write_text(json.dumps({"ID": ID, "Name": "/web-1"}))
        found = planned(tmp_path, f"{ID}-json.log", self.LINE)

        assert plan.service_of(found.item.path, found) == "web-1"

        (tmp_path / f"{ID}.config.v2.json").rename(tmp_path / "config.v2.json")
        rotated = planned(tmp_path, f"{ID}-json.log.1", self.LINE)

        assert plan.service_of(rotated.item.path, rotated) == "web-1"

    @pytest.mark.parametrize("config", ["", "[", '{"ID": "another", "Name": "/web-1"}', '{"Name": 7}', "[1]"])
    def test_service_is_the_short_id_without_a_usable_configuration(
        self, config: str, tmp_path: Path
    ) -> None:
        """A configuration that is broken or another container's names nothing."""
        (tmp_path / "config.v2.json").write_text(config)
        found = planned(tmp_path, f"{ID}-json.log", self.LINE)

        assert plan.service_of(found.item.path, found) == ID[:12]

    def test_attributes_name_the_service(self) -> None:
        """A label for it goes before the tag, whose container id is taken off."""
        line = '{{"log":"x\\n","stream":"stdout","attrs":{},"time":"2026-11-29T12:33:44Z"}}\n'
        tags = (
            {"tag": f"shop/api/{ID[:12]}"},
            {"tag": ID[:12]},
            {"tag": "x", "com.docker.compose.service": "web"},
        )
        data = "".join(line.format(json.dumps(tag)) for tag in tags)

        assert rows("docker_json", data, "service") == [("shop/api",), (None,), ("web",)]

    def test_zeros_before_a_line_are_no_part_of_it(self) -> None:
        """What a power failure leaves in front of a line does not cost the line."""
        assert rows("docker_json", "\0" * 40 + self.LINE, "message") == [("ready",)]

    def test_more_keys_are_another_format(self, tmp_path: Path) -> None:
        """A shipper's record that looks alike is not taken for the driver's."""
        data = self.LINE.replace('"stream"', '"kubernetes":{"container_name":"api"},"stream"')

        assert planned(tmp_path, "x", data).format_name == "fluentbit_json"


class TestDockerText:
    """`docker logs`, `events`, `inspect`."""

    def test_stamps_of_chunks_are_taken_out(self) -> None:
        """A line over 16 KiB has a stamp before each chunk, which is no part of the message."""
        stamp = "2026-11-29T12:33:44.204741664Z "
        line = f"{stamp}{'é' * 8192}{stamp}{'x' * 16384}{stamp}{'x' * 9}\n"

        assert rows("docker_timestamps", line, "message") == [("é" * 8192 + "x" * 16393,)]

    def test_a_long_line_keeps_other_stamps(self) -> None:
        """A stamp that does not stand where a chunk begins belongs to the message."""
        line = f"2026-11-29T12:33:44.204741664Z {'x' * 20000} 2026-11-29T12:33:44.204741664Z y\n"

        assert rows("docker_timestamps", line, "message")[0][0] == line[31:-1]

    def test_details_are_told_from_structured_messages(self, tmp_path: Path) -> None:
        """Attributes are the same on every line and begin with no usual key of a message."""
        stamp = "2026-11-29T12:33:46.560919690Z"
        same = f"{stamp} svc=api one\n{stamp} svc=api two\n"
        other = f"{stamp} level=info msg=x\n{stamp} level=info msg=y\n"
        changing = f"{stamp} user=1 x\n{stamp} user=2 y\n"

        found = [
            planned(tmp_path, name, data).format_name
            for name, data in (("a", same), ("b", other), ("c", changing))
        ]

        assert found == ["docker_details", "docker_timestamps", "docker_timestamps"]
        assert rows("docker_details", same, "service", "message") == [("api", "one"), ("api", "two")]

    def test_events_say_how_bad_they_are(self) -> None:
        """A memory kill is critical; ends with a code and bad health are errors; ordinary life is not."""
        lines = [
            ("die", "exitCode=137, image=a:1, name=api", "error"),
            ("die", "exitCode=0, image=a:1, name=api", "info"),
            ("oom", "image=a:1, name=api", "critical"),
            ("kill", "image=a:1, name=api, signal=9", "warning"),
            ("health_status: unhealthy", "image=a:1, name=api", "error"),
            ("exec_create: sh -c 'curl (x)'", "image=a:1, name=api", "info"),
        ]
        data = "".join(
            f"2026-11-29T12:00:00.1Z container {what} 4f1ad3c29b7e ({attrs})\n" for what, attrs, _ in lines
        )

        assert rows("docker_events", data, "service", "level") == [("api", level) for _, _, level in lines]

    def test_events_read_alike_as_text_and_json(self) -> None:
        """Both outputs of one event give the same text, from which the lifecycle is read."""
        event = {
            "Type": "container", "Action": "die", "Actor": {"ID": "4f1ad3c29b7e", "Attributes": {"exitCode": "137", "name": "api"}}, "timeNano": 1795955624836100205,
        }  # fmt: skip
        text = "2026-11-29T12:33:44.836100Z container die 4f1ad3c29b7e (exitCode=137, name=api)"

        assert rows("docker_events_json", json.dumps(event) + "\n", "message", "level", "service") == [
            (text, "error", "api")
        ]
        assert rows("docker_events", text + "\n", "message", "level", "service") == [(text, "error", "api")]

    def test_inspect_tells_the_state_as_events(self) -> None:
        """Creation, start, end and health checks become records at their own instants; never is no instant."""
        state = {
            "Running": False, "OOMKilled": True, "ExitCode": 137, "StartedAt": "2026-11-29T12:00:00Z", "FinishedAt": "2026-11-29T13:00:10+01:00",
            "Health": {"Status": "unhealthy", "Log": [{"Start": "2026-11-29T11:59:00Z", "End": "2026-11-29T11:59:30Z", "ExitCode": -1, "Output": "Health check exceeded timeout (30s)"}, 7]},
        }  # fmt: skip
        item = {
            "Id": ID,
            "Name": "/api",
            "Created": "0001-01-01T00:00:00Z",
            "RestartCount": 3,
            "State": state,
        }

        assert rows("docker_inspect", json.dumps([item]), "ts", "service", "level", "message") == [
            (at("2026-11-29T12:00:00Z"), "api", "info", "container started (restarted 3 times since it was created)"),
            (at("2026-11-29T12:00:10Z"), "api", "critical", "container exited with code 137, killed for lack of memory (OOMKilled)"),
            (at("2026-11-29T11:59:30Z"), "api", "error", "health check exited with code -1: Health check exceeded timeout (30s)"),
        ]  # fmt: skip

    def test_a_running_container_has_no_end(self) -> None:
        """The end of the run before is said as such, without the code of now."""
        state = {
            "Running": True,
            "ExitCode": 0,
            "StartedAt": "2026-11-29T12:00:05Z",
            "FinishedAt": "2026-11-29T12:00:00Z",
        }
        item = {"Id": ID, "Name": "/api", "State": state}

        assert rows("docker_inspect", json.dumps(item), "message", "level") == [
            ("the run before ended", "info"),
            ("container started", "info"),
        ]

    def test_text_without_times_says_so(self, tmp_path: Path) -> None:
        """A bare `docker logs` can't be placed; what its lines say is read, and how to export it is said."""
        found = planned(tmp_path, "x", 'INFO:     203.0.113.9:0 - "GET / HTTP/1.1" 200 OK\nTraceback\n')

        assert isinstance(found.plug, Transport)
        said = found.plug.parse(b'INFO:     203.0.113.9:0 - "GET / HTTP/1.1" 200 OK\n')
        assert said.records is not None
        assert said.records["ts"].to_list() == [None]
        assert "docker logs --timestamps" in said.notes[0]

    def test_text_of_no_known_program_without_times_is_read_undated(self, tmp_path: Path) -> None:
        """What it lacks says how to export it."""
        found = planned(tmp_path, "x", "hello\nworld\n")

        assert isinstance(found.plug, Transport)
        assert found.format_name == "text_undated"
        assert "docker logs -t" in found.plug.parse(b"hello\nworld\n").notes[0]


class TestCompose:
    """`docker compose logs` and `up`."""

    def test_glued_lines_are_parted(self) -> None:
        """A last line without a newline and the next container's prefix are two records of one physical line."""
        data = (
            "Attaching to shop_web_1, shop_db_1\n"
            "web_1  | 2026-11-29T12:34:55.897131195Z no newline at enddb_1   | 2026-11-29T12:34:55.935757755Z ready\n"
            "db_1   | 2026-11-29T12:34:56.000000000Z bye\x1b[33mshop_db_1 exited with code 137\n"
        )

        assert rows("compose", data, "line", "service", "message", "level") == [
            (2, "web_1", "no newline at end", None),
            (2, "db_1", "ready", None),
            (3, "db_1", "bye", None),
            (3, "db_1", "shop_db_1 exited with code 137", "error"),
        ]
        assert counts(parsed("compose", data)) == (3, 0, 0, None)

    def test_what_compose_says_is_no_record(self) -> None:
        """Its own words are accounted for, and the end of a container is kept."""
        data = (
            "[+] Running 2/2\n ✔ Container shop-web-1  Created   0.0s\n\nAttaching to web-1, db-1\n"
            "web-1  | 2026-11-29T12:00:00.000000000Z ready\n\r\x1b[Kweb-1 exited with code 1 (restarting)\nGracefully stopping... (press Ctrl+C again to force)\n"
        )
        found = parsed("compose", data)

        assert counts(found) == (6, 1, 0, None)
        assert rows("compose", data, "service", "message", "level")[1] == (
            "web-1", "web-1 exited with code 1 (restarting)", "error",
        )  # fmt: skip

    def test_lines_without_stamps_are_dated_by_their_program(self) -> None:
        """The program's own time dates a line and what continues it, naive where it has no zone; others stay undated."""
        data = (
            "redis-1  | 1:M 29 Nov 2026 12:14:31.123 * Ready\n"
            "db-1     | 2026-11-29 12:00:00.434 UTC [79] LOG:  listening\n"
            "db-1     | \tfurther line\n"
            "api-1    | INFO:     started\n"
        )

        assert rows("compose", data, "ts", "naive") == [
            (at("2026-11-29T12:14:31.123"), True),
            (at("2026-11-29T12:00:00.434Z"), False),
            (at("2026-11-29T12:00:00.434Z"), False),
            (None, False),
        ]
        assert parsed("compose", data).notes == (
            "lines without a time: 1; export them with docker compose logs -t",
        )

    def test_names_without_numbers_are_containers(self, tmp_path: Path) -> None:
        """`container_name` gives a name without a number; a table of psql is no such list."""
        data = "gateway  | 2026-11-29T12:00:00.000000000Z ready\nredis    | 2026-11-29T12:00:01.000000000Z ready\n"
        table = "-[ RECORD 1 ]--\npid    | 123\nstate  | active\n"

        assert planned(tmp_path, "x", data).format_name == "compose"
        assert planned(tmp_path, "y", table).format_name == "pg_stat_activity"
        assert rows("compose", data, "service") == [("gateway",), ("redis",)]

    def test_up_is_the_clients_clock(self) -> None:
        """Stamps of `up -t` are when the client printed the line, and the report says so."""
        data = "Attaching to web-1\nweb-1  | 2026-11-29T12:00:00.000000000Z ready\n"

        assert "client's clock" in parsed("compose", data).notes[0]


class TestKubernetes:
    """CRI logs and the clients that print several pods."""

    @pytest.mark.parametrize(
        ("name", "service"),
        [
            ("shop_api-7c9f-abcde_0b9b2a51-5a0f-4d0e-9b8a-0f9e6bc1a2b3/web/3.log", "web"),
            ("shop_api-7c9f-abcde_0b9b2a51-5a0f-4d0e-9b8a-0f9e6bc1a2b3/web/3.log.20261129-121431", "web"),
            (f"api-7c9f-abcde_shop_web-{ID}.log", "web"),
            ("other/container.log", "container"),
        ],
    )
    def test_the_path_names_the_container(self, name: str, service: str, tmp_path: Path) -> None:
        """The kubelet's folders and links name the container; any other path does not."""
        found = planned(tmp_path, name, "2026-11-29T12:26:55.949633893Z stdout F ready\n")

        assert found.format_name == "cri"
        assert plan.service_of(found.item.path, found) == service

    def test_a_last_part_is_kept(self) -> None:
        """A line that never ended stays a record, joined per stream."""
        data = "2026-11-29T12:00:00.1Z stderr P a\n2026-11-29T12:00:00.2Z stdout F b\n2026-11-29T12:00:00.3Z stderr P c\n"

        assert rows("cri", data, "line", "message") == [(1, "ac"), (2, "b")]

    def test_stern_without_stamps_needs_pods(self, tmp_path: Path) -> None:
        """Names that look like pods and repeat are a prefix; other words are not, and nothing is dated."""
        data = (
            "+ api-7c9f-abcde \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} api\n"
            + "api-7c9f-abcde api listening at 12:00\n" * 4
        )

        assert planned(tmp_path, "x", data).format_name == "stern"
        assert rows("stern", data, "service", "pid", "ts") == [("api", "api-7c9f-abcde", None)] * 4
        assert planned(tmp_path, "y", "the quick brown fox at 12:00\n" * 4).format_name == "text_undated"

    def test_stern_reads_namespaces_and_bare_pods(self) -> None:
        """With all namespaces the namespace stands first; a stamp tells where the names end."""
        data = "shop mypod web 2026-11-29T12:14:31.200000000Z a b\nmypod web 2026-11-29T12:14:31.200000000Z c d e\n"

        assert rows("stern", data, "pid", "service", "message") == [
            ("mypod", "web", "a b"),
            ("mypod", "web", "c d e"),
        ]

    def test_stern_json_takes_its_stamp_from_the_message(self) -> None:
        """Without a stamp an object is undated, and the note says what to export."""
        line = {
            "message": "2026-11-29T12:14:31.5Z INFO ok\n",
            "namespace": "shop",
            "podName": "api-1",
            "containerName": "api",
        }
        data = json.dumps(line) + "\n" + json.dumps({**line, "message": "bare\n"}) + "\n"

        assert rows("stern_json", data, "ts", "message") == [
            (at("2026-11-29T12:14:31.5Z"), "INFO ok"),
            (None, "bare"),
        ]
        assert "lines without a time: 1" in parsed("stern_json", data).notes[0]


LINES = {
    name: plug
    for name, plug in OWN.items()
    if plug.whole is not None
    and not plug.binary
    and all(not plug.for_head(one.encode()).binary for one in plug.samples)
}
"""Formats of objects that stand one a line."""


@pytest.mark.parametrize("plug", LINES.values(), ids=LINES.keys())
class TestArrangements:
    """Objects say the same however they stand in a file."""

    @pytest.mark.parametrize("arrangement", ["array", "pretty array", "pretty", "together", "utf-16"])
    def test_every_arrangement_says_the_same(self, plug: Transport, arrangement: str, tmp_path: Path) -> None:
        """An array, objects set out over lines, objects without a line end and UTF-16 give the records of lines."""
        values = [json.loads(one) for one in plug.samples]
        made = {
            "array": json.dumps(values),
            "pretty array": json.dumps(values, indent=2),
            "pretty": "\n".join(json.dumps(value, indent=4) for value in values),
            "together": "".join(plug.samples) * 2,
            "utf-16": "[\n" + ",\n".join(plug.samples) + "\n]\n",
        }[arrangement]
        path = tmp_path / "made"
        path.write_bytes(made.encode("utf-16" if arrangement == "utf-16" else "utf-8"))
        data = b"".join(streams.chunks(path))
        repeat = 2 if arrangement == "together" else 1
        expected = plug.parse("\n".join(plug.samples).encode()).records
        assert expected is not None
        found = plug.for_head(data)
        records = found.parse(data).records
        assert records is not None

        assert found.binary
        assert found.safe_cut is None
        assert records.drop("line").rows() == expected.drop("line").rows() * repeat
        assert sorted(records["line"]) == list(range(1, len(values) * repeat + 1))
        assert planned(tmp_path, "x", data).format_name == plug.name

    def test_a_cut_file_gives_what_stands_before(self, plug: Transport) -> None:
        """An array that ends in the middle gives its whole objects, and a note."""
        whole = json.dumps([json.loads(plug.samples[0])] * 3)
        found = plug.parse(whole[: -len(plug.samples[0]) // 2].encode())

        assert found.records is not None
        assert found.records.height in (2, 3)
        assert any("ends in the middle" in note for note in found.notes)


@pytest.mark.parametrize("plug", OWN.values(), ids=OWN.keys())
def test_damage_loses_no_line_and_raises_nothing(plug: Transport) -> None:
    """Cut at any place and with foreign bytes inside, every physical line is accounted for."""
    data = ("\n".join(plug.samples) + "\n").encode()
    step = max(1, len(data) // 12)
    spoilt = [data[:end] for end in range(0, len(data), step)]
    spoilt += [data[:at_] + b'\xff\0\n\x1b[1m{["' + data[at_:] for at_ in range(0, len(data), step)]

    for one in spoilt:
        plug.sniff(one)
        fitted = plug.for_head(one)
        found = fitted.parse(one)
        physical = one.count(b"\n") + (bool(one) and not one.endswith(b"\n"))

        assert found.records is not None
        assert dict(found.records.schema) == RECORDS
        if not fitted.binary:
            assert found.in_records + found.blank + found.unparsed == physical, one


class TestAggregators:
    """What the aggregators add to a line, and what their exports leave out."""

    def test_an_inner_line_of_docker_is_taken_off(self) -> None:
        """Fluent's `log` that holds Docker's object gives its text, stream and time."""
        inner = json.dumps({"log": "boom\n", "stream": "stderr", "time": "2026-11-29T12:14:31.1Z"})
        data = (
            json.dumps(
                {
                    "date": 1795954475.5,
                    "log": inner,
                    "kubernetes": {"container_name": "api", "pod_name": "api-1"},
                }
            )
            + "\n"
        )

        assert rows("fluentbit_json", data, "ts", "stream", "service", "pid", "message") == [
            (at("2026-11-29T12:14:31.1Z"), "stderr", "api", "api-1", "boom")
        ]

    def test_inner_parts_of_a_cri_line_are_joined(self) -> None:
        """Parts are joined per container, whatever stands between them."""

        def line(name: str, text: str) -> str:
            return (
                json.dumps(
                    {
                        "date": 1795954475.5,
                        "log": f"2026-11-29T12:14:31.{text}",
                        "kubernetes": {"container_name": name},
                    }
                )
                + "\n"
            )

        data = line("a", "1Z stdout P long ") + line("b", "2Z stdout F other") + line("a", "3Z stdout F line")

        assert rows("fluentbit_json", data, "line", "service", "message") == [
            (1, "a", "long line"),
            (2, "b", "other"),
        ]

    def test_an_inner_syslog_line_names_the_program(self) -> None:
        """Splunk's `_raw` of a syslog file names service and process where no field does."""
        row = {
            "_raw": "Nov 29 12:14:31 web-1 api[17]: boom\nsecond",
            "_time": "2026-11-29T13:14:31.000+01:00",
        }

        assert rows(
            "splunk_json", json.dumps({"preview": False, "result": row}) + "\n", "service", "pid", "message"
        ) == [("api", "17", "boom\nsecond")]

    def test_previews_are_left_out(self) -> None:
        """Rows that are not final are accounted for and no records."""
        row = {"_raw": "x", "_time": "1795954471.5"}
        data = "".join(json.dumps({"preview": early, "result": row}) + "\n" for early in (True, False))
        found = parsed("splunk_json", data)

        assert found.records is not None
        assert found.records["line"].to_list() == [2]
        assert counts(found) == (2, 0, 0, None)
        assert found.notes == ("1 rows are previews and left out: export again when the search is done",)

    def test_the_limit_of_an_export_is_named_only_when_it_is_met(self) -> None:
        """Thirty lines of logcli are its default limit, 29 are not."""
        line = TRANSPORTS["loki_jsonl"].samples[0] + "\n"

        assert parsed("loki_jsonl", line * 29).notes == ()
        assert "logcli's default limit" in parsed("loki_jsonl", line * 30).notes[0]

    def test_newest_first_is_turned_round(self) -> None:
        """A traceback that was shipped line by line stands in its order again; lines keep their place in the file."""
        texts = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "TimeoutError: x"]
        stamps = ["2026-11-29T12:14:31.1Z", "2026-11-29T12:14:31.1Z", "2026-11-29T12:14:31.2Z"]
        entries = [
            {"labels": {"app": "api"}, "line": text, "timestamp": at_}
            for text, at_ in zip(texts, stamps, strict=True)
        ]
        data = "".join(json.dumps(entry) + "\n" for entry in reversed(entries))

        assert rows("loki_jsonl", data, "line", "message") == [(3, texts[0]), (2, texts[1]), (1, texts[2])]

    def test_further_lines_stay_behind_their_record(self) -> None:
        """Turning an export round does not tear a message of several lines apart."""
        data = "1795954471123\t2026-11-29T12:14:31.123Z\tboom\n  at x\n1795954470000\t2026-11-29T12:14:30.000Z\tready\n"

        assert rows("grafana_txt", data, "line", "message") == [(3, "ready"), (1, "boom"), (2, "  at x")]

    def test_more_matches_than_hits_are_said(self) -> None:
        """A search that matched more than it returned says so."""
        hit = {"_index": "i", "_id": "1", "_source": {"@timestamp": "2026-11-29T12:14:31Z", "message": "x"}}
        data = json.dumps({"hits": {"total": {"value": 4321}, "hits": [hit]}})

        assert (
            "matched 4,321 documents or more, of which the file holds 1"
            in parsed("elastic_hits", data).notes[0]
        )

    def test_otlp_without_a_time_takes_the_observed_one(self) -> None:
        """A time of 0 is none; a record without any stays undated."""
        records = [
            {
                "timeUnixNano": "0",
                "observedTimeUnixNano": "1795954471200000000",
                "body": {"stringValue": "a"},
            },
            {
                "body": {"kvlistValue": {"values": [{"key": "n", "value": {"intValue": "5"}}]}},
                "severityNumber": 21,
            },
        ]
        data = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}) + "\n"

        assert rows("otlp_json", data * 2, "line", "ts", "level", "message") == [
            (1, 1795954471200000, None, "a"),
            (2, None, "critical", '{"n": "5"}'),
            (3, 1795954471200000, None, "a"),
            (4, None, "critical", '{"n": "5"}'),
        ]

    def test_loki_labels_that_all_share_stand_above(self) -> None:
        """Labels that logcli prints once, above all lines, name the service of every line."""
        data = 'Common labels: {app="api", env="prod"}\n2026-11-29T12:14:31Z {pod="api-1"} boom\n  at x\n'

        assert rows("loki_text", data, "service", "pid", "message", "cont") == [
            ("api", "api-1", "boom", False),
            ("api", "api-1", "  at x", True),
        ]

    def test_a_full_download_of_grafana_is_said(self) -> None:
        """As many lines as the limit means that there may be more."""
        data = 'Common labels: {"app":"api"}\nLine limit: "1 (1 returned)"\n\n1795954471123\t2026-11-29T12:14:31.123Z\tINFO ok\n'

        assert "at most (1)" in parsed("grafana_txt", data).notes[0]
        assert counts(parsed("grafana_txt", data)) == (3, 1, 0, None)

    def test_cloudwatch_reads_pages_batches_and_insights(self) -> None:
        """Pages one after another, a subscription's batch without a line end, and Insights' answer are one format."""
        data = "".join(TRANSPORTS["cloudwatch_events"].samples)

        assert rows("cloudwatch_events", data, "service", "ts") == [
            ("web", 1795954471123000), ("web", 1795954471123000), (None, 1795954471123000),
        ]  # fmt: skip

    def test_heroku_says_what_it_dropped_and_what_failed(self) -> None:
        """The platform's errors are errors, its dropped lines are a limit of the source."""
        stamp = "2026-11-29T12:14:31.123456+00:00"
        data = (
            f"{stamp} heroku[web.1]: Process exited with status 137\n{stamp} app[api]: Release v12 created by user\n"
            f"{stamp} heroku[logplex]: Error L10 (output buffer overflow): drain 'd.1' dropped 512 messages\n"
        )

        assert rows("heroku", data, "service", "level") == [
            ("web.1", "error"),
            ("heroku-api", None),
            ("logplex", "error"),
        ]
        assert "dropped lines" in parsed("heroku", data).notes[0]

    def test_gcp_requests_are_shown_as_such(self) -> None:
        """An entry without a payload is shown as method, address and status."""
        assert rows("gcp_logging", TRANSPORTS["gcp_logging"].samples[1] + "\n", "message", "cursor") == [
            ("GET https://crm.example.net/health 200 0.012s", "2abc")
        ]

    def test_a_crashed_function_is_an_error(self) -> None:
        """Vercel's status -1 means that there was no answer."""
        entry = json.loads(TRANSPORTS["vercel_cli"].samples[0]) | {
            "level": "info",
            "message": "",
            "messageTruncated": True,
        }
        found = parsed("vercel_cli", json.dumps(entry) + "\n")

        assert rows("vercel_cli", json.dumps(entry) + "\n", "level", "message") == [
            ("error", "GET /api/noise -1")
        ]
        assert "cut by the platform" in found.notes[0]


class TestTables:
    """Rows of CSV."""

    HEAD = "Date,Host,Service,Content\n"

    def test_a_row_is_named_by_its_first_physical_line(self) -> None:
        """Newlines in quotes move the rows behind them, blank lines too."""
        data = self.HEAD + '2026-11-29T12:00:00Z,h,api,"a\nb\nc"\n\n2026-11-29T12:00:01Z,h,api,d\n'

        assert rows("datadog_csv", data, "line", "message") == [(2, "a\nb\nc"), (6, "d")]
        assert counts(parsed("datadog_csv", data)) == (5, 1, 0, None)

    def test_rows_of_another_width_are_unparsed(self) -> None:
        """A row that has more or fewer fields is no record and is counted with its place."""
        data = self.HEAD + "2026-11-29T12:00:00Z,h,api,a\nbroken\n2026-11-29T12:00:01Z,h,api,b,c\n"

        assert counts(parsed("datadog_csv", data)) == (2, 0, 2, 3)

    def test_a_quote_that_never_closes_says_where(self) -> None:
        """What lies behind it is unparsed, and nothing raises."""
        data = self.HEAD + '2026-11-29T12:00:00Z,h,api,a\n2026-11-29T12:00:01Z,h,api,"b\nc\n'
        found = parsed("datadog_csv", data)

        assert sum(counts(found)[:3]) == 4
        assert found.records is not None
        assert found.records["message"][0] == "a"

    @pytest.mark.parametrize(
        ("before", "sep", "encoding"),
        [
            ("", ",", "utf-8-sig"),
            ("sep=;\r\n", ";", "utf-8"),
            ("", "\t", "utf-16"),
            ('"sep=,"\n', ",", "utf-8"),
        ],
    )
    def test_spreadsheet_variants_are_read(
        self, before: str, sep: str, encoding: str, tmp_path: Path
    ) -> None:
        """A mark of the separator, tabs, a byte order mark and UTF-16 change nothing."""
        row = ["2026-11-29 13:14:31.123", '"INFO ok"', "1795954471123456789", '"{""app"":""api""}"']
        text = before + sep.join(["Time", "Line", "tsNs", "labels"]) + "\r\n" + sep.join(row) + "\r\n"
        found = planned(tmp_path, "x", text.encode(encoding))

        assert found.format_name == "grafana_csv"
        assert rows(
            "grafana_csv", b"".join(streams.chunks(tmp_path / "x")), "ts", "naive", "service", "message"
        ) == [(1795954471123456, False, "api", "INFO ok")]

    def test_grafana_without_nanoseconds_has_no_zone(self) -> None:
        """The dashboard's zone is not stated, so that the time is naive."""
        data = '"Time","Line","id"\n2026-11-29 13:14:31.123,x,1\n'

        assert rows("grafana_csv", data, "ts", "naive") == [(at("2026-11-29T13:14:31.123"), True)]

    @pytest.mark.parametrize(
        ("zone", "dates", "expected", "naive", "noted"),
        [
            (" [UTC]", ["11/29/2026, 1:14:31.123 PM"], "2026-11-29T13:14:31.123", False, False),
            (
                " [UTC]",
                ["3/4/2026, 1:14:31 AM", "29/11/2026, 1:14:31 AM"],
                "2026-04-03T01:14:31",
                False,
                False,
            ),
            (" [UTC]", ["3/4/2026, 1:14:31 AM"], "2026-03-04T01:14:31", False, True),
            (" [Local Time]", ["29.11.2026, 13:14:31.123"], "2026-11-29T13:14:31.123", True, False),
            ("", ["2026-11-29T13:14:31.123Z"], "2026-11-29T13:14:31.123", False, False),
        ],
    )
    def test_azure_reads_dates_as_the_header_says(
        self, zone: str, dates: list[str], expected: str, naive: bool, noted: bool
    ) -> None:
        """The header states the zone; the order of day and month follows from dates that leave no doubt."""
        data = f'"TimeGenerated{zone}",Computer,SyslogMessage\n' + "".join(
            f'"{date}",web-1,x\n' for date in dates
        )

        assert rows("azure_csv", data, "ts", "naive")[0] == (at(expected), naive)
        assert bool(parsed("azure_csv", data).notes) == noted

    def test_kibana_has_the_zone_of_the_browser(self) -> None:
        """Kibana's own date format is naive, ISO 8601 with an offset is not."""
        data = '"@timestamp",message\n"Nov 9, 2026 @ 13:14:31.123",a\n2026-11-29T12:14:31.123Z,b\n'

        assert rows("kibana_csv", data, "ts", "naive") == [
            (at("2026-11-09T13:14:31.123"), True),
            (at("2026-11-29T12:14:31.123"), False),
        ]

    def test_splunk_without_an_offset_is_naive(self) -> None:
        """A zone in letters other than UTC is not known."""
        data = "_time,_raw\n2026-11-29 13:14:31.000 CET,a\n2026-11-29 13:14:31.000 UTC,b\n1795958071.5,c\n"

        assert rows("splunk_csv", data, "ts", "naive") == [
            (at("2026-11-29T13:14:31"), True), (at("2026-11-29T13:14:31"), False), (1795958071500000, False),
        ]  # fmt: skip

    def test_series_of_a_panel_are_samples(self, tmp_path: Path) -> None:
        """Numbers are samples of their column; values with units are how the panel shows them and are left out."""
        path = tmp_path / "panel.csv"
        path.write_text('"Time","web-1","web-2"\n2026-11-29 13:14:31,34,\n2026-11-29 13:14:32,35,1.2 GiB\n')
        found = formats.all_monitors()["grafana_series"].parse(path, {})

        assert found.samples is not None
        assert found.samples.select("line", "series", "value", "naive").rows() == [
            (2, "web-1", 34.0, True), (3, "web-1", 35.0, True),
        ]  # fmt: skip
        assert "1 values carry units" in found.notes[0]
        assert counts(found) == (3, 0, 0, None)


def test_records_without_newlines_of_their_own_are_escaped() -> None:
    """Every format of objects or ordinals says that lines of a message are no lines of the file."""
    assert all(plug.escaped or plug.binary for name, plug in TRANSPORTS.items() if name.endswith("_json"))


def test_frames_have_the_promised_types() -> None:
    """Every format's records have the columns of records and nothing else, also without any record."""
    assert all(pl.DataFrame(schema=RECORDS).schema == plug.parse(b"").records.schema for plug in OWN.values())  # type: ignore[union-attr]


def test_a_level_is_no_host(tmp_path: Path) -> None:
    """A logger that writes time, level and class is not taken for a journal whose host is called ERR."""
    line = "2026-08-15T07:41:10.221Z ERR StackExchange.Redis.RedisTimeoutException: Timeout performing GET"

    assert formats.all_transports()["journald_short_iso_precise"].sniff(f"{line}\n".encode()) == 0.0
    assert planned(tmp_path, "x", f"{line}\n" * 3).first_format == "zerolog_console"


def test_ages_and_totals_of_events_are_placed_nowhere(tmp_path: Path) -> None:
    """Rows of `kubectl get events` count back from an unknown moment: records without a time, and the totals are named."""
    (tmp_path / "events.txt").write_text(
        "LAST SEEN               TYPE      REASON      OBJECT         MESSAGE\n"
        "7m12s (x40 over 2d3h)   Warning   Unhealthy   pod/api-5f     Readiness probe failed: EOF\n"
        "3m                      Normal    Killing     pod/api-5f     Stopping container api\n",
        encoding="utf-8",
    )
    (source,) = pipeline.survey([str(tmp_path)], pipeline.Options()).sources

    assert (source.transport, source.records, source.undated) == ("kubectl_ages", 2, 2)
    assert any("its counts (x40 over 2d3h) are totals" in note for note in source.limits), source.limits
