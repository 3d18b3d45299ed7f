"""What PostgreSQL calls the severity of a message and its further parts, in English and in translation.

``lc_messages`` translates the tags of a server log too. The words are those of the message catalogues (postgres/postgres
src/backend/po/*.po, checked in the compiled ones of 15 except for Portuguese and Polish); French and others put a blank before
the colon of some. A tag that is none of these is still read where a prefix with a time and a process precedes it, without a level.
"""

# ruff: noqa: RUF001 - tags in the alphabets of their languages

from __future__ import annotations

import re

LEVELS = {
    "LOG": "info", "INFO": "info", "NOTICE": "info", "WARNING": "warning", "ERROR": "error", "FATAL": "error", "PANIC": "critical",
    **{f"DEBUG{n}": "debug" for n in ("", 1, 2, 3, 4, 5)},
    **dict.fromkeys(("HINWEIS", "NOTIFICA", "NOTIS", "LOGG", "NOTA", "UWAGA", "DZIENNIK", "ЗАМЕЧАНИЕ", "СООБЩЕНИЕ", "ИНФОРМАЦИЯ", "ПОВІДОМЛЕННЯ", "ЗАПИСУВАННЯ", "ІНФОРМАЦІЯ", "日志", "信息", "注意", "로그", "정보", "알림"), "info"),
    **dict.fromkeys(("WARNUNG", "ATTENTION", "ATTENZIONE", "VARNING", "AVISO", "OSTRZEŻENIE", "ADVERTENCIA", "ПРЕДУПРЕЖДЕНИЕ", "ПОПЕРЕДЖЕННЯ", "警告", "경고"), "warning"),  # codespell:ignore varning
    **dict.fromkeys(("FEHLER", "ERREUR", "ERRORE", "FEL", "ERRO", "BŁĄD", "ОШИБКА", "ПОМИЛКА", "错误", "오류"), "error"),
    **dict.fromkeys(("FATALE", "FATALT", "KATASTROFALNY", "ВАЖНО", "ФАТАЛЬНО", "致命错误", "치명적오류"), "error"),
    **dict.fromkeys(("PANIK", "PANICO", "PÂNICO", "PÁNICO", "PANIQUE", "PANIKA", "ПАНИКА", "ПАНІКА", "比致命错误还过分的错误", "손상"), "critical"),
    **dict.fromkeys(("ОТЛАДКА", "НАЛАГОДЖЕННЯ", "调试", "디버그"), "debug"),
}  # fmt: skip
"""Severities, and the level that each stands for. FATAL ends one session, not the server."""
FURTHER = (
    "DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "STATEMENT", "BACKTRACE",
    "TIPP", "ANFRAGE", "ZUSAMMENHANG", "ORT", "ANWEISUNG",
    "DETALLE", "SUGERENCIA", "CONSULTA", "CONTEXTO", "UBICACIÓN", "SENTENCIA",
    "DÉTAIL", "ASTUCE", "REQUÊTE", "CONTEXTE", "EMPLACEMENT", "INSTRUCTION", "PILE D'APPEL",
    "DETTAGLI", "SUGGERIMENTO", "CONTESTO", "POSIZIONE", "ISTRUZIONE",
    "DETALHE", "DICA", "LOCAL", "COMANDO",  # codespell:ignore comando
    "DETALJ", "TIPS", "FRÅGA", "KONTEXT", "PLATS", "SATS",
    "SZCZEGÓŁY", "PODPOWIEDŹ", "ZAPYTANIE", "KONTEKST", "WYRAŻENIE",
    "ПОДРОБНОСТИ", "ПОДСКАЗКА", "ЗАПРОС", "КОНТЕКСТ", "ПОЛОЖЕНИЕ", "ОПЕРАТОР", "СТЕК",
    "ВІДОМОСТІ", "УКАЗІВКА", "ЗАПИТ", "РОЗТАШУВАННЯ", "ІНСТРУКЦІЯ", "ВІДСТЕЖУВАТИ",
    "詳細", "ヒント", "問い合わせ", "文脈", "場所", "文", "バックトレース",
    "详细信息", "提示", "查询", "上下文", "位置", "语句",
    "상세정보", "힌트", "내용", "위치", "명령 구문", "역추적",
)  # fmt: skip
"""Tags of lines that belong to the message above them."""


def words(names: object) -> str:
    """Return a pattern of several words, the longest first."""
    assert isinstance(names, (dict, tuple))
    return "|".join(re.escape(name).replace(r"\ ", " ") for name in sorted(names, key=lambda n: (-len(n), n)))


TAG = rf"(?:(?P<further>{words(FURTHER)})|(?P<level>{words(LEVELS)}|\p{{Lu}}{{3,15}})) ?:  ?"
"""A tag with its colon and blanks; one of another language is taken for a severity."""
KNOWN = rf"(?:(?P<further>{words(FURTHER)})|(?P<level>{words(LEVELS)})) ?:  "
