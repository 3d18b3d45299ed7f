"""Files of a deployment: how a folder is read, how a slip is told, and which settings speak of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forensics.model.errors import UsageError
from forensics.sources import deployment, programs
from forensics.sources.settings import term

if TYPE_CHECKING:
    from pathlib import Path

    from forensics.model.budget import Deployment

URL = "postgres://app:hunter2@db/app?connection_limit"


def read(*paths: Path) -> Deployment:
    """Read files or folders."""
    return deployment.read(deployment.sort([str(path) for path in paths]))


def refusal(path: Path, text: str | bytes) -> str:
    """Return how a file is refused."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(UsageError) as refused:
        read(path)
    return str(refused.value)


def service(*lines: str) -> str:
    """Return a Compose file with one service."""
    return "\n".join(["services:", "  api:", *(f"    {line}" for line in lines)]) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services:\n\tapi: {}\n", "c.yaml:2: not valid YAML ("),
        ("services: {a: {image: b}}\n---\nservices: {}\n", "c.yaml:2: not valid YAML ("),
        ("", "c.yaml: has no services; "),
        ("- a\n", "c.yaml: has no services; "),
        ("on: push\n", "c.yaml: has no services; "),
        (b"services:\n  a: \xff\n", "c.yaml: is no UTF-8 text; "),
        ("services: " + "[" * 100_000, "c.yaml: is nested too deeply; "),
        ("services:\n  api: hello\n", "c.yaml:2: a mapping is expected here; "),
        ("services:\n  api: &a\n    <<: *a\n", "c.yaml:2: an alias leads to itself; "),
        ("services:\n  api: {image: a}\n  api: {image: b}\n", "c.yaml:3: 'api' stands here twice; "),
        ("services:\n  a: {extends: b}\n  b: {extends: a}\n", "c.yaml:3: 'a' extends itself; "),
        (service("environment: 12"), "c.yaml:3: a mapping is expected here; "),
        (service("scale: few", f"environment: {{DATABASE_URL: '{URL}=1'}}"), "c.yaml:3: replicas is no whole number; "),
        (service(f"environment: {{DATABASE_URL: '{URL}=many'}}"), "c.yaml:3: connection_limit of DATABASE_URL is no number; "),
        (service(f"environment: {{DATABASE_URL: '{URL}=-2'}}"), "c.yaml:3: connection_limit of DATABASE_URL is negative; "),
        (service("image: postgres", "command: -c max_connections=all"), "c.yaml:4: command of api is no whole number; "),
        (service(f"environment: {{DATABASE_URL: '{URL}=1'}}", "deploy: {update_config: {order: both}}"), "c.yaml:4: unknown order of update_config; orders are start-first, stop-first"),
        (service(f"environment: {{DATABASE_URL: '{URL}=1'}}", "deploy: {update_config: {order: start-first, parallelism: few}}"), "c.yaml:4: start-first, parallelism of update_config is no whole number; "),
        (service("image: pgbouncer", "environment: {POOL_MODE: all}"), "c.yaml:4: unknown pool_mode; modes are session, "),
    ],
)  # fmt: skip
def test_compose_slip(text: str | bytes, said: str, tmp_path: Path) -> None:
    """A slip in a Compose file is one line with file, line and remedy, and shows no value of a URL."""
    told = refusal(tmp_path / "c.yaml", text)

    assert told.startswith(said)
    assert "\n" not in told
    assert "hunter2" not in told


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pgbouncer.ini", "[pgbouncer\n", "pgbouncer.ini:1: is not written as an .ini file; "),
        ("pgbouncer.ini", "[other]\n", "pgbouncer.ini: has no section [pgbouncer]; "),
        ("pgbouncer.ini", "[pgbouncer]\nmax_client_conn = few\n", "pgbouncer.ini:2: max_client_conn is no whole number; "),
        ("postgresql.conf", "\nmax_connections = all\n", "postgresql.conf:2: max_connections is no whole number; "),
        ("x.env", f"DATABASE_URL={URL}=99999999999\n", "x.env:1: connection_limit of DATABASE_URL is no number; "),
    ],
)  # fmt: skip
def test_other_slip(name: str, text: str, said: str, tmp_path: Path) -> None:
    """A slip in another file is told in the same way."""
    assert refusal(tmp_path / name, text).startswith(said)


def test_merges_of_merges_are_read_once(tmp_path: Path) -> None:
    """Sixty levels that each merge the one below twice are read at once."""
    levels = "".join(f"x{n}: &x{n} {{<<: [*x{n - 1}, *x{n - 1}], k{n}: 1}}\n" for n in range(1, 60))
    path = tmp_path / "c.yaml"
    path.write_text(
        f"x0: &x0 {{a: 1}}\n{levels}" + service("environment:", "  <<: *x59", f"  DATABASE_URL: {URL}=5")
    )

    assert [client.name for client in read(path).clients] == ["api"]


def test_folder_is_read_as_compose_would(tmp_path: Path) -> None:
    """Of a folder the main Compose file, its override and .env are read; other stacks and samples are not."""
    (tmp_path / "docker-compose.yml").write_text(
        service(f"environment: {{DATABASE_URL: '{URL}=${{LIMIT}}'}}")
    )
    (tmp_path / "docker-compose.override.yml").write_text(service("scale: 4"))
    (tmp_path / "docker-compose.ci.yml").write_text(service("scale: 9"))
    (tmp_path / ".env").write_text("LIMIT=7\n")
    (tmp_path / ".env.example").write_text("LIMIT=1\n")
    (tmp_path / "app.log").write_text("x\n")
    found = read(tmp_path)
    values = {said.term: said.value for said in (*found.said, *found.clients[0].links[0].said)}

    assert str(values["replicas"]) == "4"
    assert str(values["pool"]) == "7"
    assert any("docker-compose.ci.yml" in note for note in found.notes)
    assert any("only the files of the deployment" in note for note in found.notes)


def test_folder_without_deployment_holds_logs(tmp_path: Path) -> None:
    """A folder without files of a deployment is an input like any other."""
    (tmp_path / "app.log").write_text("x\n")

    assert deployment.sort([str(tmp_path)]).logs == [str(tmp_path)]


def test_env_file_that_is_missing_is_said(tmp_path: Path) -> None:
    """An env_file that cannot be read is a remark with its line."""
    path = tmp_path / "c.yaml"
    path.write_text(service("env_file: gone.env", f"environment: {{DATABASE_URL: '{URL}=5'}}"))

    assert read(path).notes == ("c.yaml:3: the env_file of api, gone.env, cannot be read",)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DB_POOL_SIZE", "pool"), ("DATABASE_POOL_MAX", "pool"), ("POOL_SIZE", "pool"), ("KNEX_POOL_MAX", "pool"), ("DB_POOL", "pool"),
        ("DATABASE_CONNECTION_LIMIT", "pool"), ("DB_MAX_CONNECTIONS", "pool"), ("PG_MAX_CONNS", "pool"), ("RAILS_MAX_THREADS", "pool"),
        ("SPRING_DATASOURCE_HIKARI_MAXIMUMPOOLSIZE", "pool"), ("spring.datasource.hikari.maximum-pool-size", "pool"),
        ("WORKER_DB_POOL_MAX", "worker_pool"), ("DB_JOBS_POOL_SIZE", "worker_pool"), ("WORKER_POOL_SIZE", "worker_pool"),
        ("SQLALCHEMY_MAX_OVERFLOW", "overflow"), ("DB_POOL_OVERFLOW", "overflow"), ("WEB_CONCURRENCY", "processes"),
        ("GUNICORN_WORKERS", "processes"), ("INBOX_CONCURRENCY_MAX", "concurrency"), ("POSTGRES_MAX_CONNECTIONS", "max_connections"),
        ("DB_POOL_TIMEOUT", None), ("DB_POOL_MIN", None), ("REDIS_POOL_SIZE", None), ("HTTP_POOL_SIZE", None), ("POOL_RECYCLE", None),
        ("DB_POOL_PRE_PING", None), ("THREAD_POOL_SIZE", None), ("DB_HOST", None), ("MAX_CONNECTIONS", None), ("TEXT_OVERFLOW", None),
        ("PGBOUNCER_DEFAULT_POOL_SIZE", None), ("DB_NAME", None), ("CARPOOL_SIZE", None),
    ],
)  # fmt: skip
def test_names(name: str, expected: str | None) -> None:
    """A name is read by its words; timeouts, minima and pools of other things are no sizes."""
    assert term(name) == expected


@pytest.mark.parametrize(
    ("command", "number", "default"),
    [
        ("uvicorn app:app --workers 4", "4", False),
        ("/venv/bin/gunicorn -w4 app:app", "4", False),
        ("gunicorn --workers=2 --workers=3 app:app", "3", False),
        ('sh -c "migrate && exec gunicorn -w ${N} app:app"', "${N}", False),
        ("python -m uvicorn app:app", "1", True),
        ("bundle exec puma -w 2 -t 5:5", "2", False),
        ("bundle exec sidekiq -c 25", "1", True),
        ("celery -A app worker -c 6", "6", False),
        ("celery -A app worker -P gevent -c 500", "1", True),
        ("celery -A app worker", None, False),
        ("pm2-runtime start app.js -i 3", "3", False),
        ("pm2-runtime start app.js -i max", None, False),
        ("npm run start", "1", True),
        ("java -jar app.jar", "1", True),
    ],
)
def test_processes(command: str, number: str | None, default: bool) -> None:
    """A command says how many processes it starts, or that the machine decides."""
    from forensics.sources.compose import split

    found = programs.processes(split(command))

    assert found is not None
    assert (found.text, found.default) == (number, default)


def test_unknown_program_says_nothing() -> None:
    """Of a program that is not known, nothing is said."""
    assert programs.processes([["./serve", "--workers", "3"]]) is None
