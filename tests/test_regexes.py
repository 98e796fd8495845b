"""Regexes: none goes wrong on Python 3.11.2, and none takes long on a text that someone made to be slow.

Two engines read them. Those of polars (rules/text, rules/wording.yaml, all `pl.Expr.str` methods) are Rust's, which is
linear whatever the regex; hyperscan looks for plain texts only. Python's own goes back, so those are asked here.
"""

import ast
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from loganalyst import namewords
from loganalyst.auditing.jobaccounts import hosts
from loganalyst.baseline.differencekinds import kinds
from loganalyst.curves import metricnames, rolepatterns, severaltrainings
from loganalyst.diagnosis.symptomwords import all_words, numbers
from loganalyst.features.text import _without_bar
from loganalyst.sources.config import plaintexts
from loganalyst.sources.discovery import jobs
from loganalyst.sources.slurm import reader, units
from loganalyst.sources.stackdump import doings
from loganalyst.sources.text import sniffing
from loganalyst.sources.text.lines.loglines import head
from loganalyst.sources.text.metrics import layoutfile
from loganalyst.sources.text.metrics.lineforms import learn
from loganalyst.sources.text.tracebacks import tracelines
from tests import regexes
from tests.regexes import Regex

pytestmark = pytest.mark.takes_long

PROJECT = Path(__file__).parents[1]
FORBIDDEN = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}  # Python 3.11.2 matches them wrongly
LENGTH = 40_000  # characters: what takes their square takes a minute for each regex
SECONDS = 40  # of processor time for one regex: a linear one takes at most eight
FIRST = 4_000  # characters that are asked first
FIRST_SECONDS = 0.35  # that they may take: what takes the square of a text's length then takes less than SECONDS
NAME = 255  # of a file
# What is asked of short texts only, and why they are; the rest must be linear on texts of any length
SHORT = {
    "loganalyst.checkpoint.deepspeed.STATE_FILE": (NAME, "a file's name"),
    "loganalyst.diagnosis.questiontokens._TOKEN": (1000, "a question has no more (MAX_LENGTH)"),
    "loganalyst.report.comparison.picture._styles": (NAME, "a style that matplotlib wrote"),
    "loganalyst.report.diagnosis.setup.WEIGHT": (80, "longer names of settings are not asked (LONGEST)"),
    "loganalyst.sources.config.reader._OTHERS": (NAME, "a file's name"),
    "loganalyst.sources.config.plaintexts._LINE": (2000, "longer lines are not asked (MAX_LINE)"),
    "loganalyst.sources.config.plaintexts.DUMPS": (NAME, "a file's name"),
    "loganalyst.sources.discovery.filenames._DUMP": (NAME, "a file's name"),
    "loganalyst.sources.discovery.filenames._WANDB_HISTORY": (NAME, "a folder's name"),
    "loganalyst.sources.flightrecorder.reader._RANK": (NAME, "a file's name"),
    "loganalyst.sources.mlflow.database_reader._NAMED": (NAME, "a file's name"),
    "loganalyst.sources.tables.numbercolumns_reader._FILES": (NAME, "a file's name"),
    "loganalyst.sources.text.lines.owners._SUBMITIT": (NAME, "a file's name"),
    "loganalyst.sources.text.metrics.numbernames._ORIGINS": (120, "the characters before a number"),
    "loganalyst.sources.text.metrics.numbernames._SEPARATOR": (120, "the characters before a number"),
    "loganalyst.sources.text.metrics.linedata._ARROW": (120, "the characters before a number"),
    "loganalyst.sources.text.metrics.linedata._ON_DATA": (120, "the characters before a number"),
    "loganalyst.sources.text.metrics.linelabels._GOES_ON": (120, "the first characters behind a number"),
    "loganalyst.sources.text.metrics.linelabels._OPENS": (120, "the characters before a number"),
    "loganalyst.sources.text.patterns.unknownerrors._CLASSES": (2000, "a regex of rules/wording.yaml"),
    "loganalyst.sources.text.lines.numberwords.WORDS": (120, "a word before a number"),
    "loganalyst.sources.discovery.rotation._NUMBERED": (NAME, "a file's name"),
}
MADE = {
    "loganalyst.anonymous.aliases._host_pattern",
    "loganalyst.anonymous.vocabulary.languages",
    "loganalyst.baseline.differencekinds._pattern",
    "loganalyst.diagnosis.fixplaces._keys",
    "loganalyst.diagnosis.rowanswers._pieces",
    "loganalyst.namewords._languages",
    "loganalyst.curves.metricnames.phrase_regex",
    "loganalyst.curves.severaltrainings._numbered",
    "loganalyst.curves.trainers._regex",
    "loganalyst.sources.discovery.joining._accounts",
    "loganalyst.sources.text.failedtrials._member",
    "loganalyst.sources.text.failedtrials._numbered",
    "loganalyst.sources.text.metrics.layoutfile.regex",
    "loganalyst.sources.text.metrics.lineforms.columns",
    "loganalyst.sources.text.metrics.lineshapes._as_printed",
    "loganalyst.sources.slurm.scontrol._records",
    "loganalyst.sources.stackdump.doings._regexes",
}
LONGEST = 500  # of a metric's name and of a setting's key (`rolepatterns.MAX_NAME`, `kinds.LONGEST`)


def of_rules() -> list[tuple[Regex, int]]:
    """Those in YAML files that Python's engine reads, and the longest text each is asked of."""
    phrases = [p for pattern in rolepatterns._catalogue() for p in (*pattern.phrases, pattern.any, pattern.none) if p]
    patterns = map(metricnames.phrase_regex, phrases)
    found = [(Regex("roles.yaml", p.pattern, p.flags, frozenset({"search"})), LONGEST) for p in patterns]
    found += [(Regex("words.yaml", p.pattern, p.flags, frozenset({"sub"})), LENGTH) for p, _ in namewords._languages()]
    numbered = severaltrainings._numbered()
    found.append((Regex("roles.yaml", numbered.pattern, numbered.flags, frozenset({"match"})), LONGEST))
    frames = doings._regexes().values()
    found += [(Regex("stacks.yaml", p.pattern, p.flags, frozenset({"search"})), LONGEST) for p in frames]
    asked = ["<time>", " <after_nan>", *(layout.part for layout in layoutfile.layouts() if layout.part)]
    layouts = map(layoutfile.regex, asked)
    found += [(Regex("layouts.yaml", p.pattern, p.flags, frozenset({"search"})), LENGTH) for p in layouts]
    globs = [kinds().ignored, *(p for kind in kinds().kinds.values() for p in (kind.last, kind.whole))]
    return found + [(Regex("changes.yaml", p.pattern, p.flags, frozenset({"fullmatch"})), LONGEST) for p in globs]


@pytest.fixture(scope="module")
def known():
    return regexes.of_package()


def test_every_regex_of_the_package_is_found(known):
    found, made = known
    assert set(made) == MADE
    assert len(found) > 200
    assert SHORT.keys() <= {regex.place for regex in found}


def test_none_is_possessive_or_atomic(known):
    bad = [r for r in (*known[0], *(r for r, _ in of_rules())) if regexes.parts(r.pattern, r.flags) & FORBIDDEN]
    assert bad == []


def test_none_of_the_tests_own_is_possessive_or_atomic():
    files = [path for folder in ("tests", "docs", "fixtures") for path in (PROJECT / folder).rglob("*.py")]
    texts = [text for path in files for text in regexes.in_texts(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(texts) > 100
    assert [text for text in texts if regexes.parts(text, 0) & FORBIDDEN] == []


def test_possessive_and_atomic_ones_are_known():
    """By the parser, at any depth; a plus that is a plain character is none."""
    atom, some = "(?>a)", "x(?:y(?=a|b*+))"  # not given to `re`, so that they are not found above
    assert regexes.parts(atom, 0) & FORBIDDEN == {"ATOMIC_GROUP"}
    assert regexes.parts(some, 0) & FORBIDDEN == {"POSSESSIVE_REPEAT"}
    assert regexes.parts(r"C\+\+ [*+]+ a*\+", 0) & FORBIDDEN == set()


def test_none_takes_long_on_a_nasty_text(known):
    """A regex that takes the square of a text's length, or more, is stopped by a signal; the last line names it."""
    code = "from tests.test_regexes import ask_all; ask_all()"
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", code]
    given = pickle.dumps(known[0])
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, check=False, timeout=3600, env=env)
    lines = done.stdout.decode().splitlines()

    assert done.returncode == 0, f"takes far too long: {lines[-1]}"
    assert len(lines) == len(known[0]) + len(of_rules())


def ask_all():
    """Each regex, from stdin or of rules, of its nasty texts; says before which it is.

    Only where short ones take long, long ones are asked.
    """
    found = pickle.load(sys.stdin.buffer)
    own = [(regex, SHORT.get(regex.place, (LENGTH, ""))[0]) for regex in found]
    for regex, length in own + of_rules():
        print(regex.place, regex.pattern, flush=True)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        if ask(regex, min(length, FIRST)) > FIRST_SECONDS and length > FIRST:
            ask(regex, length)


def ask(regex, length):
    """The seconds of processor time that the answers took."""
    texts = regexes.nasty(regex, length)
    before = time.process_time()
    for text in texts:
        regexes.asked(regex, text)
    return time.process_time() - before


BLANKS, DIGITS = " " * LENGTH, "0" * LENGTH
NASTY = [
    (numbers, f"loss spikes every {BLANKS}x"),
    (numbers, f"loss spikes every ~{BLANKS}~{BLANKS}{DIGITS}{BLANKS}x"),
    (numbers, f"step#{BLANKS}about{BLANKS}x"),
    (numbers, f"{DIGITS}x {'0,' * LENGTH}x {'0.' * LENGTH}x"),
    (all_words, f"h{DIGITS}s {'1,._' * LENGTH}s"),
    (hosts, "[" * LENGTH),
    (lambda text: list(hosts(text)), "n[1-" * LENGTH),
    (units.count, "n[1-" * LENGTH + "]"),
    (_without_bar, "|s/it" * LENGTH),
    (_without_bar, "|it/s]" * LENGTH),
    (jobs._GENERAL.fullmatch, ("log-" * NAME)[:NAME] + "!"),
    (jobs._GENERAL.fullmatch, ("stdout" * NAME)[:NAME] + "!"),
    (jobs._GENERAL.fullmatch, ("err_out." * NAME)[:NAME] + "!"),
    (reader._is_json, "{" + '"jobs": [' * LENGTH),
    (plaintexts.options, f"name{'.' * LENGTH}x{DIGITS}"),
    (plaintexts.options, f"name{BLANKS}x"),
    (plaintexts.options, "\n".join(f"name{'.' * 900}x{'y' * 1090}" for _ in range(50))),
    (lambda text: sniffing._is_table(f"a\tb\tloss{text}x"), "\t" * LENGTH),
    (lambda text: sniffing.likeness(Path("x"), text.encode()), f"loss{BLANKS}"),
    (lambda text: sniffing.likeness(Path("x.log"), text.encode()), "\n" * LENGTH + "*"),
    (lambda text: tracelines.Lines([text, text], 0).ending(1), "a." * LENGTH),
    (lambda text: tracelines.Lines([text, text], 0).ending(1), "AError." * LENGTH + "!"),
    (lambda text: tracelines.Lines([text, text], 0).ending(1), f"AError{BLANKS}x"),
    (lambda text: tracelines.Lines([text, text], 0).place(1), "│ in 0:" + "0:" * LENGTH),
    (lambda text: head(text.encode()), "\x1b[" * LENGTH),
    (lambda text: head(text.encode()), f"\x1b[{DIGITS}{BLANKS}\x1b]{DIGITS}"),
]


def test_nothing_that_is_read_takes_long():
    """The same of what asks them: the limit only stops what does not end."""
    code = "from tests.test_regexes import NASTY; [ask(text) for ask, text in NASTY]"
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600, env=env)


@pytest.mark.parametrize("bar", ["━" * 400, "━ \t" * 40, "|" + "━" * 9 + "| ", "[===>....] "])
def test_the_regex_of_a_form_takes_a_bar_in_one_way(bar):
    """Made of a line, and asked of others that begin like it: what is drawn fits in one way only."""
    (form,) = learn(pl.Series([f"{bar} loss: 0.5 " * 20]))
    if form.template is not None:
        code = (
            f"import re; re.compile({form.columns.pattern!r}, re.ASCII).fullmatch({f'{bar} loss: 0.5 ' * 20 + '!'!r})"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


NASTY_ASKED = """
import resource, sys, time
from tests.regexes import *
regex = Regex("", sys.argv[1], 0, frozenset(["search"]))
def ask(length): [asked(regex, text) for text in nasty(regex, length)]
ask(15)
print("short", flush=True)
seconds = int(time.process_time()) + 2  # a linear regex takes a seventh of a second
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
ask(400_000)
"""


def asked_long(regex: str) -> "subprocess.CompletedProcess[str]":
    """A process that asks a regex of its nasty texts, short ones and then long ones, which get two seconds."""
    command = [sys.executable, "-c", NASTY_ASKED, regex]
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=600, env=env)


@pytest.mark.parametrize("regex", [r"(\d+)(?:\.\d+)*$", r"\s*x\s*\s*y", r"(?:a|ab|b)+c", r"\[([^\]]*)\]"])
def test_texts_are_nasty(regex):
    """Of a regex that is not linear, one of the texts takes minutes on any machine if it is long."""
    done = asked_long(regex)

    assert (done.stdout, done.returncode) == ("short\n", -signal.SIGXCPU)


def test_texts_of_a_linear_regex_take_no_time():
    """The limit of the test above does not end it."""
    assert asked_long(r"x\d+y").returncode == 0
