"""What a written time means: fractions, offsets, epochs, years, folds and gaps."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import warnings
import zoneinfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model.errors import UsageError
from forensics.sources import clock

NOON = 1_795_953_600_000_000
"""2026-11-29T12:00:00Z"""
YEARS = st.datetimes(min_value=dt.datetime(1990, 1, 1), max_value=dt.datetime(2100, 1, 1))  # noqa: DTZ001 - naive on purpose


def us(text: str) -> int:
    """Return an ISO instant in microseconds."""
    return round(dt.datetime.fromisoformat(text).timestamp() * 1_000_000)


def run(call, *texts: str | None) -> list[int | None]:
    """Apply an expression to a column of texts."""
    return pl.select(call(pl.lit(pl.Series(texts, dtype=pl.String)))).to_series().to_list()


@pytest.mark.parametrize(
    ("text", "after_noon_us"),
    [
        ("2026-11-29T12:00:00Z", 0),
        ("2026-11-29T12:00:00+00:00", 0),
        ("2026-11-29T09:00:00-0300", 0),
        ("2026-11-29T09:00:00-03:00", 0),
        ("2026-11-29T17:30:00+0530", 0),
        ("2026-11-29T12:00:00.1Z", 100_000),
        ("2026-11-29T12:00:00.123Z", 123_000),
        ("2026-11-29T12:00:00.123456Z", 123_456),
        ("2026-11-29T12:00:00.123456789Z", 123_456),
        ("2026-11-29T12:00:00,5Z", 500_000),
        ("2026-11-29 12:00:00.5Z", 500_000),
        ("2026-11-29T09:00:00.25-03", 250_000),
    ],
)
def test_iso(text: str, after_noon_us: int) -> None:
    """RFC 3339 is read with any number of fraction digits and any offset."""
    assert run(clock.iso, text) == [NOON + after_noon_us]


def test_iso_mixed_column() -> None:
    """Stamps of different precision and offset may follow one another in one column."""
    assert run(clock.iso, "2026-11-29T12:00:00Z", "2026-11-29T12:00:00.5-03:00", None, "x") == [
        NOON,
        NOON + 10_800_500_000,
        None,
        None,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-31T12:00:00Z",
        "2026-11-29T25:00:00Z",
        "2026-11-29T12:00:00",
        "2026-11-29",
        "1795953600",
    ],
)
def test_iso_unreadable(text: str) -> None:
    """A stamp that is none, or that states no offset, is null."""
    assert run(clock.iso, text) == [None]


@given(YEARS, st.integers(-14 * 60, 14 * 60))
def test_iso_round_trip(moment: dt.datetime, offset_min: int) -> None:
    """Whatever Python writes is read back to the microsecond."""
    aware = moment.replace(tzinfo=dt.timezone(dt.timedelta(minutes=offset_min)))
    truth = (aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)

    assert run(clock.iso, aware.isoformat()) == [truth]


@pytest.mark.parametrize(
    "text",
    [
        "1795953600",
        "1795953600.0",
        "1795953600000",
        "1795953600000000",
        "1795953600000000000",
        "1795953600000.0",
    ],
)
def test_epoch_of_any_unit(text: str) -> None:
    """An epoch in seconds, milliseconds, microseconds or nanoseconds is told by its magnitude."""
    assert run(clock.epoch_any, text) == [NOON]


def test_epoch_fraction() -> None:
    """Fractions of seconds and milliseconds are kept to the microsecond."""
    assert run(clock.epoch_any, "1795953600.25", "1795953600000.5") == [NOON + 250_000, NOON + 500]


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-inf", "true", "1e400", "99999999999999999999999"])
def test_epoch_unreadable(text: str) -> None:
    """What is no number is null."""
    assert run(clock.epoch_any, text) == [None]


@pytest.mark.parametrize("text", ["0", "-1", "86"])
def test_epoch_that_is_not_set(text: str) -> None:
    """A small number is no instant: 1970 is never made up."""
    assert run(clock.epoch_any, text) == [None]


def test_stamp_without_year() -> None:
    """A stamp without a year is read in the dummy year, 29 February included."""
    assert run(lambda c: clock.parse_stamp(c, "%b %d %H:%M:%S"), "Feb 29 12:00:00", "Nov 31 12:00:00") == [
        us("2000-02-29T12:00:00+00:00"),
        None,
    ]


@pytest.mark.parametrize("text", ["Sep  8 14:10:00", "Sep 08 14:10:00"])
def test_stamp_with_a_padded_day(text: str) -> None:
    """Syslog pads the day with a blank, journalctl with a zero."""
    assert run(lambda c: clock.parse_stamp(c, "%b %d %H:%M:%S"), text) == [us("2000-09-08T14:10:00+00:00")]


class TestZone:
    """Zones are IANA names and never the machine's."""

    def test_known(self) -> None:
        """A name of the IANA data base is a zone."""
        assert clock.zone("America/Sao_Paulo").key == "America/Sao_Paulo"

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("America/SaoPaulo", "did you mean America/Sao_Paulo?"),
            ("Europe/Berln", "did you mean Europe/Berlin?"),
            ("", "use an IANA name such as"),
            ("../../etc/passwd", ""),
            ("/etc/passwd", ""),
            ("x\0y", ""),
            ("America", ""),
        ],
    )
    def test_unknown(self, name: str, hint: str) -> None:
        """An unknown zone is a usage error that names the nearest one."""
        with pytest.raises(UsageError, match="unknown time zone") as refused:
            clock.zone(name)

        assert hint in str(refused.value)

    def test_fold_and_gap(self) -> None:
        """The first of two readings in a fold is taken; a time in a gap does not exist and is null."""
        walls = [
            us(f"{text}+00:00")
            for text in ("2026-11-01T01:30:00", "2026-03-08T02:30:00", "2026-07-01T12:00:00")
        ]
        found = pl.select(clock.to_utc(pl.lit(pl.Series(walls)), "America/New_York")).to_series().to_list()

        assert found == [us("2026-11-01T05:30:00+00:00"), None, us("2026-07-01T16:00:00+00:00")]


class TestYear:
    """The year of stamps that carry none comes from the other inputs, else from the file's own time."""

    def span(self, first: str, last: str, turns: int = 0) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return a span of the dummy year that runs over New Year so many times."""
        return (us(f"2000-{first}T00:00:00+00:00"), -turns), (us(f"2000-{last}T00:00:00+00:00"), 0)

    def test_dated_inputs_decide(self) -> None:
        """The year in which the span overlaps the dated inputs wins over the file's own time."""
        anchor = (us("2024-09-07T00:00:00+00:00"), us("2024-09-09T00:00:00+00:00"))

        assert clock.guess_year(*self.span("09-08", "09-10"), [anchor], NOON)[0] == 2024

    def test_anchor_across_new_year(self) -> None:
        """Where the dated inputs touch two years, the one with the overlap is taken."""
        anchor = (us("2025-12-30T00:00:00+00:00"), us("2026-01-02T00:00:00+00:00"))

        assert clock.guess_year(*self.span("12-30", "12-31"), [anchor], NOON)[0] == 2025
        assert clock.guess_year(*self.span("01-01", "01-02"), [anchor], NOON)[0] == 2026

    def test_file_time_is_an_upper_bound(self) -> None:
        """Without dated inputs a log does not lie after the time of its own file."""
        assert clock.guess_year(*self.span("09-08", "09-10"), [], NOON)[0] == 2026
        assert clock.guess_year(*self.span("12-24", "12-25"), [], NOON)[0] == 2025

    def test_a_span_over_new_year(self) -> None:
        """The year is that of the last line; the first ones lie in the year before."""
        anchor = (us("2025-12-30T00:00:00+00:00"), us("2025-12-31T00:00:00+00:00"))

        assert clock.guess_year(*self.span("12-30", "01-02", 1), [anchor], NOON)[0] == 2026
        assert (
            clock.guess_year(*self.span("12-30", "01-02", 1), [], us("2027-01-03T00:00:00+00:00"))[0] == 2027
        )
        assert (
            clock.guess_year(*self.span("12-30", "11-02", 1), [], us("2026-10-20T00:00:00+00:00"))[0] == 2025
        )

    def test_leap_day_in_a_common_year(self) -> None:
        """29 February in a common year is null, never moved."""
        leap = pl.lit(pl.Series([us("2000-02-29T12:00:00+00:00"), us("2000-02-28T12:00:00+00:00")]))

        assert pl.select(clock.with_year(leap, pl.lit(2026))).to_series().to_list() == [
            None,
            us("2026-02-28T12:00:00+00:00"),
        ]

    def test_leap_day_tells_the_year(self) -> None:
        """A log that holds 29 February is one of a leap year."""
        assert (
            clock.guess_year(*self.span("02-28", "02-29"), [], us("2026-11-29T00:00:00+00:00"), [0])[0]
            == 2024
        )


class TestInstant:
    """Instants of options and the case file."""

    SAO_PAULO = clock.zone("America/Sao_Paulo")

    def read(self, text: str, latest: int | None = None) -> int:
        """Read an instant as --since does."""
        return clock.instant(text, self.SAO_PAULO, where="--since", latest=latest)

    @pytest.mark.parametrize(
        "text",
        [
            "2026-11-29T12:00:00Z",
            "2026-11-29 09:00",
            "2026-11-29T09:00:00-03:00",
            "2026-11-29T13:00:00+01:00",
            "29 Nov 2026 09:00:00",
        ],
    )
    def test_full(self, text: str) -> None:
        """A date and a time make an instant, in the case's zone where none is stated."""
        assert self.read(text) == NOON

    def test_time_of_the_last_day(self) -> None:
        """A time without a date is one of the last day of the inputs, in the case's zone."""
        late = us("2026-11-30T01:30:00+00:00")

        assert self.read("09:00", latest=late) == NOON

    @pytest.mark.parametrize("text", ["09:00", "09:00:00Z", "9am"])
    def test_time_without_a_day(self, text: str) -> None:
        """A time without a date and without inputs is refused, never taken as today's."""
        with pytest.raises(UsageError, match="has no date") as refused:
            self.read(text)

        assert str(refused.value).startswith("--since: ")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "yesterday",
            "2 hours ago",
            "soon",
            "2026-13-01T00:00",
            "99",
            "2026",
            "Nov",
            "99999999999999999999",
        ],
    )
    @pytest.mark.parametrize("latest", [None, NOON])
    def test_refused(self, text: str, latest: int | None) -> None:
        """What is no instant is refused with the way to write one."""
        with pytest.raises(UsageError, match="write it as 2026-09-09T09:42:26-03:00"):
            self.read(text, latest)

    @pytest.mark.parametrize("text", ["Sep 8 14:00", "09-08 14:00", "Tue 10:00"])
    def test_half_a_date_is_not_thrown_away(self, text: str) -> None:
        """A stated day or weekday is obeyed or refused, never replaced by another day."""
        latest = us("2026-09-10T20:00:00+00:00")
        obeyed = {us("2026-09-08T14:00:00-03:00"), us("2026-09-08T10:00:00-03:00")}
        try:
            assert self.read(text, latest) in obeyed
        except UsageError:
            return

    @pytest.mark.parametrize("machine", ["America/New_York", "America/Chicago", "Asia/Tokyo"])
    @pytest.mark.parametrize(("zone", "said"), [("EST", "2026-01-08T15:00:00+00:00"), ("CST", "refused")])
    def test_abbreviation_is_not_the_machines(self, machine: str, zone: str, said: str) -> None:
        """An abbreviation means the same on every machine, and is refused where it means several offsets."""
        code = (
            "from forensics.sources import clock\n"
            "from forensics.model.errors import UsageError\n"
            f"try: print(clock.instant('2026-01-08 10:00 {zone}', clock.zone('UTC'), where='x'))\n"
            "except UsageError: print('refused')\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "TZ": machine},
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.stdout.strip() == (said if said == "refused" else str(us(said)))

    def test_no_warning_for_full_instants(self) -> None:
        """Reading an instant prints nothing."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert self.read("2026-11-29T12:00:00Z") == NOON


class TestZoneTokens:
    """What stands behind a time."""

    def test_table_is_that_of_the_tz_database(self) -> None:
        """Every abbreviation in use since 2019 means one offset in the table, or is named as meaning several."""
        said: dict[str, set[int]] = {}
        for name in zoneinfo.available_timezones():
            for year in range(2019, 2027):
                for month in (1, 7):
                    moment = dt.datetime(year, month, 1, tzinfo=zoneinfo.ZoneInfo(name))
                    offset = moment.utcoffset()
                    if (token := moment.tzname()) and token.isalpha() and offset is not None:
                        said.setdefault(token, set()).add(round(offset.total_seconds() / 60))
        named = {token: minutes for token, minutes in clock.ABBREVIATIONS.items() if token in said}

        assert {token: {minutes} for token, minutes in named.items()} == {
            token: minutes for token, minutes in said.items() if len(minutes) == 1
        }
        assert set(clock.AMBIGUOUS) == {token for token, minutes in said.items() if len(minutes) > 1}

    @pytest.mark.parametrize(
        ("token", "minutes"),
        [
            ("-03", -180),
            ("+0530", 330),
            ("+05:30", 330),
            ("-0330", -210),
            ("UTC", 0),
            ("CEST", 120),
            ("EST", -300),
            ("CST", None),
            ("IST", None),
            ("XYZ", None),
            ("", None),
            (None, None),
        ],
    )
    def test_offset_of_a_token(self, token: str | None, minutes: int | None) -> None:
        """Offsets and abbreviations of one meaning are read; nothing is guessed for the others."""
        assert run(clock.offset_min, token) == [minutes]

    def test_year_one_is_never(self) -> None:
        """Go's zero time is no instant; the years around 1900 and 1970 are."""
        stamps = run(clock.iso, "0001-01-01T00:00:00Z", "1900-01-01T00:00:00Z", "1970-01-01T00:00:01Z")

        assert stamps == [None, us("1900-01-01T00:00:00+00:00"), 1_000_000]

    def test_a_leap_second_is_the_second_after(self) -> None:
        """Second 60 is read as the first of the next minute, with any fraction."""
        stamps = run(clock.iso, "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.250+00:00")

        assert stamps == [us("2017-01-01T00:00:00+00:00"), us("2017-01-01T00:00:00.250+00:00")]
