"""AWS Application (and Classic) Load Balancer access log.

    https 2026-11-29T12:14:31.186641Z app/my-lb/50dc 203.0.113.9:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://shop.example:443/health HTTP/1.1" "curl/8" ...

The time is when the load balancer sent its answer. Three durations in seconds (until the request was sent to the target, until
the target answered, until the answer was sent) make the whole; -1 says that a part did not happen, and then the whole is not
known. Reference: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
"""

from __future__ import annotations

import polars as pl

from forensics.model.plug import MessageFormat

PARTS = r"^(?:\S+ )?\d{4}-\S+Z \S+ \S+:\d+ \S+ (\d+\.\d+) (\d+\.\d+) (\d+\.\d+) "


def prepare(message: pl.Expr) -> pl.Expr:
    """Put the sum of the three durations in front of the line; nothing where one of them is -1."""
    parts = [message.str.extract(PARTS, number).cast(pl.Float64, strict=False) for number in (1, 2, 3)]
    return pl.concat_str(
        [(parts[0] + parts[1] + parts[2]).cast(pl.String).fill_null(""), message], separator=" "
    )


PLUG = MessageFormat(
    name="aws_alb",
    title="AWS load balancer access log",
    kind="request",
    marks="when the answer was sent: the end",
    anchors=("://",),
    starts=("date", "lower"),
    pattern=r'^(?P<duration_s>[\d.]+)? (?:(?P<type>https?|h2|grpcs|wss?) )?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z) (?P<balancer>\S+) (?P<client>\S+):(?P<port>\d+) (?P<target>\S+) -?[\d.]+ -?[\d.]+ -?[\d.]+ (?P<status>\d{3}|-) (?P<target_status>\d{3}|-) -?\d+ -?\d+ "(?P<method>[A-Z-]+) (?:[a-z0-9]+://[^/\s]*)?(?P<path>\S+) [^"]*" "(?P<agent>(?:[^"\\]|\\.)*)"',
    time="iso",
    zone="offset",
    prepare=prepare,
    samples=(
        'https 2026-11-29T12:14:31.186641Z app/my-lb/50dc6c495c0c9188 203.0.113.9:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://shop.example:443/health HTTP/1.1" "curl/8" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/t/7 "Root=1-58337281-1d84" "shop.example" "arn:aws:acm:x" 1 2026-11-29T12:14:31.100000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"',
        'http 2026-11-29T12:14:32.186641Z app/my-lb/50dc6c495c0c9188 203.0.113.9:2818 - -1 -1 -1 503 - 34 366 "GET http://shop.example:80/orders HTTP/1.1" "curl/8" - - arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/t/7 "Root=1-58337281-1d85" "-" "-" 0 2026-11-29T12:14:32.180000Z "forward" "-" "-" "-" "-" "-" "-"',
        '2026-11-29T12:14:33.945958Z my-loadbalancer 203.0.113.9:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -',
    ),
    reference="https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html",
)
