"""Words and marks that classify printed numbers: positions, results, settings, and numbers that are never metrics.

The regexes are for names in lower case with blanks for `_` and `-`; all take linear time.
"""

import re

from loganalyst.namewords import in_english, word_file

SLOT = "\x00"  # a number
CLOCK = "\x01"  # a date or a time of day
JOIN = "\x02"  # a blank after which nan is a word, not a value ("number of nan iterations")
BAR = "\x03"  # a progress bar before its counter: `%|███|` of tqdm
KERAS = "\x04"  # a progress bar after its counter, with averages over the epoch: `5/10 [==>..]`

# `epoch`, `train epoch`, `epoch idx`, `ep.`, `轮`, `época`
EPOCH = re.compile(rf"^(?:.* )?(?:epoch|ep|{'|'.join(word_file().epochs)})(?: (?:num|no|number|id|idx|index))?\.?$")
# `step`, `global step`, `train/step`, `iter num`, `num updates`, `steps`
STEP = re.compile(
    r"^(?:.*? |[a-z]*/)??(global step|num updates|nupdate|iteration|iter|step|timestep|total timesteps|itr|it|batch|"
    r"minibatch|batch idx|update|episode|game|round|frame|generation)s?(?: (?:num|no|number|id|idx|index))?\.?$"
)
# Of several positions on a line the first of these counts; a counter within an epoch comes after them
ORDER = (
    "global step",
    "num updates",
    "nupdate",
    "iteration",
    "iter",
    "itr",
    "step",
    "timestep",
    "total timesteps",
    "it",
    "s",
)
RANK: tuple[str, ...] = (*ORDER, "episode", "game", "round", "frame", "generation", "[")
# `steps per epoch`, `max steps`, `avg steps`, `best epoch`: settings, counts and averages, not positions
NOT_POSITION = re.compile(
    r"\b(?:per|every|max|num (?!updates)|number of|total(?! timesteps)|warm ?up|save|log|best|time|skipped|start|ms|s|"
    r"accumulation|for|after(?! epochs?$)|episode(?= steps$))\b|"
    r"\b(?:avg|average|mean|median|std)\.? (?:\w+ )?(?:timestep|step|move|frame|round)s?$"
)

# Names that may be results: `lr`, `grad norm`, `score`. They count where the line has a position or a result.
WEAK = re.compile(r"\b(?:lr|learning rate|\w*norm|grad|gradient|error|score|ap|precision|return|time)\b")
# Words of results, for lower case: `train loss`, `val accuracy`, `损失`, `acc1`, `map50`, `rouge1`
RESULT = (
    r"损失|損失|손실|准确率|准确度|正确率|精度|정확도|p[eé]rdida|verlust|exactitud|genauigkeit|acur[aá]cia|"
    r"\b(?:perda|perte|perdita|kayıp|strata)\b|потер|точност|accuratezza|akurasi|do[gğ]ruluk|dok[lł]adno|précision|"
    r"loss|accura|perplexity|reward|entropy|recall|grad ?norm|\bf1|\ba[pr]@|"
    r"\b(?:acc[0-9]?|b?ce|xent|pplx?|deviance|nll|n?elbo|kld?|bpb|bpc|bits/dim|fitness|objective|bleu|auc|auroc|map[0-9]*|m?iou|psnr|ssim|fid|r2|r?mse|mae|wer|cer|eer|dice|meteor|cider|rouge[a-z0-9]?|mrr|ndcg|mcc)\b|"
    r"\b(?:hits?|hr|p|r|prec|pre|rec)@[0-9]|\bhits? (?:[a-z]{1,10} )?@ ?[0-9]"
)
# Words of settings that may contain a word of results: `loss weight`, `reward scale`, `accuracy threshold`
SETTING = (
    r"\b(?:weights?|coefs?|coeff|coefficient|alpha|beta|gamma|lambda|scaler?|smoothing|type|fn|func|name|file|path|dir|"
    r"functions?(?: [a-km-z]\w*|$)|max|min|num|number|n|size|steps?|every|interval|freq|warm ?up|decay|clip|threshold|"
    r"target|init|models?|head|layers?|dim|patience|delta|window|chunk|batch|bits|code|seed|version|id|line|location|"
    r"params|parameters|using|use|with|for|from)\b"
)
# A line with one of these is examined even if it is printed only once or twice: `epoch`, `loss`
WORTH = RESULT + r"|epoch|\bep\b|iou="
NUMERIC = r"[0-9]|(?i:nan|inf)"  # a digit, `nan` or `inf`
BUSY = r"(?i)loss\S{0,3}[\s:=]+[-+(\[]?[0-9]"  # `loss: 0.5`, `Loss = -3`, `loss_g=(1`: the program trains
_SHORTEST_MEASURE = 4  # letters: shorter names of measures are words as well (`der`, `ade`)
_MEASURES = "|".join(
    measure.replace("_?", " ?").replace("_", " ?")
    for measure in (*word_file().measures.scores, *word_file().measures.errors)
    if len(re.sub(r"\W", "", measure)) >= _SHORTEST_MEASURE
)
# `training cost`, but not `batch cost`, which is a time
_COST = r"(?<!batch )(?<!reader )(?<!data )(?<!time )\bcost\b(?! time)"
STRONG = re.compile(rf"{RESULT}|{_COST}|\b(?:{_MEASURES})\b")  # of `RESULT`, and `psnr`, `hd95`, `si sdr`
CONFIGURED = re.compile(SETTING)
# Names of numbers that are never metrics: `pid`, `world size`, `eta`, `x`, `s/it`, a URL, `train.py`
NEVER = re.compile(
    r"^(?:v num|version|seed|pid|rank|local rank|world size|port|job|jobid|id|gpus?|node|line|errno|exitcode|exit code|"
    r"code|signal|eta|wall|date|run|trial|fold|\w|[xyz] [a-z]|(?:ms|s)/(?:it|step))$|https?|\\|\.py\b|"
    r"\.(?:pyc?|pyx|ipynb|scala|java|kt|cc?|cpp|cxx|cuh?|h|hpp|rs|go|js|ts|rb|jl|lua|sh|yaml|yml|json|toml|csv|tsv|txt|log|"
    r"npy|npz|pth?|ckpt|onnx|h5|hdf5|pkl|tar|gz|zip|png|jpe?g|mp4|wav|so|dll|exe|out|err|md|html?|xml|cfg|ini|com|org|net)$"
)
# `train loss`, `val acc`; the group is a word for held-out data
SPLIT = re.compile(
    r"\b(?:train|training|trn|tr|"
    r"(test|testing|te|val|vld|va|valid|validation|eval|evaluation|dev|holdout|heldout|held out|held))\b"
)
_HELD_OUT = "holdout|held-?out|dev|val|valid|validation|validate|validating|eval|evaluation|evaluating|test|testing"
# A line about held-out data: `Validation: `, `[val] `, `Test set: `, `| valid | epoch 3`, `[Epoch 3] Validation: `,
# `验证结果: `, `第3轮测试结束，`
EVALUATION = re.compile(
    rf"(?:^|(?<!\w)[\[|(]|(?<=epoch)\(|[{CLOCK}{SLOT}]|\s-|[\])|;>*#=])\s*"
    rf"(?:({_HELD_OUT})\b(?:\s(?:set|results?|metrics|net output #{SLOT}))?"
    # `val batch 3/98`; `test batch size 64` is a setting
    rf"(?:\s?[:\])|]|\s-|\s?\[|\s(?:epoch|step|iter|(?:mini-?)?batch[\s:=#\[(]{{0,3}}{SLOT}))"
    r"|(验证|驗證|検証|검증|测试|測試|テスト|테스트)(?:集|セット)?(?:结果|結果|결과)?\s?[:\])|])"
    r"|(验证|測試|测试|驗證)(?:结束|完成|结果)?[,，]",
    re.IGNORECASE,
)
# `[train] loss=2, [valid] loss=3`, `train: loss 2, acc 0.5 -> val: loss 3`
SECTION = re.compile(
    r"(?:\[|(?<!\w))(train|training|test|testing|val|valid|validation|eval|evaluation|dev|holdout|held-?out|训练|訓練|验证|驗證|検証|测试|測試)"
    r"(?:\]|\s?:\s?(?=[^\W\d_]))",
    re.IGNORECASE,
)
# `end of epoch 3`, `saving epoch 3`: such a line opens no epoch
CLOSING = re.compile(r"\b(?:end|sav|finish|complet|done|best)", re.IGNORECASE)
# Words that a metric's name at the end of a sentence may have: `average` and `train_loss` in `the average train_loss`
WORDS = re.compile(
    r"^(?:train|training|test|val|valid|validation|eval|evaluation|avg|average|mean|running|total|best|final|top\S*|"
    r"learning|rate|grad|gradient|norm|smoothed|epoch|batch|\S*(?:loss|acc|accuracy|ppl|perplexity|reward|score|error)\S*)$",
    re.IGNORECASE,
)
# words of sentences, such as `the`; names of metrics have none
PROSE = re.compile(r"\b(?:the|a|an|at|in|on|to|and|with|from|than|by|for|if|has|have|will|be)\b", re.IGNORECASE)
_JOINED = re.compile(r"[\s_\-]+")  # the `_` in `train_loss`
_CAPITAL = re.compile(r"(?<=[a-z]{3})(?=[A-Z][a-z]{2})")  # between `val` and `Acc` in `valAcc`, not in `mIoU`


def plain_name(name: str) -> str:
    """The name in lower case and in English, with blanks for `_` and `-`.

    >>> plain_name("Train_Loss"), plain_name("valAcc"), plain_name("Validierungsfehler")
    ('train loss', 'val acc', 'val error')
    """
    return in_english(_JOINED.sub(" ", _CAPITAL.sub(" ", name).lower()))
