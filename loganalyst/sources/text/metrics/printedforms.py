"""Lines of numbers in a form of a trainer's own (`prints` of `rules/trainers`), put in plain words.

A form is put in plain words once, before its numbers get their meaning. The numbers keep their places, so the lines are
parsed as fast as any others.
"""

from collections.abc import Iterator
from functools import cache

import msgspec
import polars as pl

from loganalyst.errors import RuleError
from loganalyst.rulefiles import Place
from loganalyst.sources.text.lines.numberwords import SLOT, WORTH
from loganalyst.sources.text.patterns import catalogue, userpatterns
from loganalyst.sources.text.patterns.userpatterns import OwnPatterns
from loganalyst.trainerfiles import Print, TrainerFiles, trainer_files

NUMBER = "#"  # a number in `regex` and `as`


class PrintedForm(msgspec.Struct, frozen=True):
    """A form in a trainer's own words: a text of it, the regex of what is replaced, and by what; and its place."""

    text: str
    regex: str
    plain: str
    place: Place


def in_plain_words(form: str) -> str | None:
    """The form as the first matching trainer explains it; None where none does.

    >>> in_plain_words("Score at iteration \\x00 is \\x00") == "iteration \\x00 loss = \\x00"
    True
    """
    matching = (_replaced(form, printed) for printed in known(userpatterns.here()) if printed.text in form)
    return next((plain for plain in matching if plain is not None), None)


def is_worth(text: pl.Expr) -> pl.Expr:
    """Whether a line or form is examined even if it is printed only once or twice."""
    words = text.str.to_lowercase().str.replace_all("_", " ", literal=True)
    return words.str.contains(WORTH) | text.str.contains_any(texts(userpatterns.here()))


@cache
def known(own: OwnPatterns) -> tuple[PrintedForm, ...]:
    """The forms of our trainers, and the valid ones of the user's."""
    return tuple(form for form in _read(own) if isinstance(form, PrintedForm))


@cache
def texts(own: OwnPatterns) -> list[str]:
    """The texts one of which is in every form that a trainer explains."""
    return [form.text for form in known(own)]


def faults(own: OwnPatterns) -> tuple[RuleError, ...]:
    """The errors in forms of the user's trainers; such forms are left out."""
    return tuple(error for error in _read(own) if isinstance(error, RuleError))


@cache
def _read(own: OwnPatterns) -> tuple[PrintedForm | RuleError, ...]:
    ours = {form.place: form for form in _forms(trainer_files())}
    return tuple(ours.get(form.place) or _checked(form) for form in _forms(trainer_files(own.folders)))


def _forms(read: TrainerFiles) -> Iterator[PrintedForm]:
    for name, shape in read.shapes.items():
        for i, entry in enumerate(shape.prints):
            yield _form(entry, read.files[name].place("prints", i, "regex"))


def _form(entry: Print, place: Place) -> PrintedForm:
    regex, plain = (text.replace(NUMBER, SLOT) for text in (entry.regex, entry.plain))
    return PrintedForm(entry.text, regex, plain, place)


def _checked(form: PrintedForm) -> PrintedForm | RuleError:
    """The form, or the error in its regex."""
    try:
        catalogue.check_regex(form.place.where, form.regex)
    except RuleError as error:
        return error
    return form


def _replaced(form: str, printed: PrintedForm) -> str | None:
    """The form with the matching part replaced; None where the regex does not match or numbers would be added."""
    text = pl.Series([form])
    if not text.str.contains(printed.regex)[0]:
        return None
    plain: str = text.str.replace(printed.regex, printed.plain)[0]
    return plain if plain.count(SLOT) <= form.count(SLOT) else None
