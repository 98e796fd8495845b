"""`[3/30][450/500]`: the epoch and the batch of a line that names neither."""


def pair_of(number: str) -> str:
    """The regex of such a pair of `number`, the regex of one number; its groups are epoch, epochs, batch, batches.

    >>> import re
    >>> re.search(pair_of("[0-9]{1,9}"), "Train [3/30] [450/500] loss 0.5").groups()
    ('3', '30', '450', '500')
    """
    share = rf"\[\s{{0,4}}({number})\s{{0,4}}/\s{{0,4}}({number})\s{{0,4}}\]"
    return rf"{share}\s{{0,4}}{share}"
