"""Orders to whoever judges a change, hidden in its own text. Phrases only: a paraphrase gets through, and a model that
judges must treat all of the change as data anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gatekeeper.records import dataclass

_JUDGE = (
    r"(?:(?:automated|automatic|ai|llm|model|machine|code)[\s-]+(?:code[\s-]+)?(?:reviewers?|judges?|graders?|verifiers?|evaluators?|gates?)\b"
    r"|(?:reviewing|review|verifying|evaluating|grading|judging)[\s-]+(?:assistants?|agents?|bots?|models?|ais?|llms?)\b"
    r"|(?:ai|llm)[\s-]+(?:code[\s-]+)?review(?:ing)?[\s-]+(?:tools?|systems?)\b"
    r"|\b(?:bots?|agents?|ais?|llms?|assistants?|models?|tools?)\s+(?:reviewing|judging|grading|scanning)\s+(?:this|it|the (?:change|diff|patch|file|commit))\b"
    r"|\[/?(?:system|inst|admin|developer)\]|<\|?/?(?:system|im_start)[^>]{0,20}>"
    r"|if you are (?:an? )?(?:ai|llm|language model|agent|assistant|bot|automated|reviewing))"
)
# A machine's name alone is ordinary in a project about models: only speaking *to* it counts.
_ADDRESSED = (
    r"(?:\b(?:ais?|llms?|(?:language|ai) models?|(?:ai|coding) (?:agents?|assistants?|bots?|tools?)|assistants?|gatekeeper|copilot|claude|gpt-?\d*|gemini|bots?|agents?)\s*[:,]"
    r"|(?:dear|hey|attention|note to|message (?:to|for)|instructions? (?:to|for))[,:\s]+(?:the |all |any )?(?:ais?|llms?|models?|assistants?|bots?|agents?|gatekeeper|copilot|claude|gemini)\b"
    r"|^\W{0,4}system\s*:)"
)
_PERSON = r"(?:(?:note|notice|message|instructions?|attention)\s+(?:to|for)\s+(?:the\s+)?(?:reviewers?|judges?|graders?|verifiers?)|^\W{0,6}(?:(?:for|to)\s+(?:the\s+)?)?(?:reviewers?|judges?|graders?|verifiers?)(?:['\u2019]?s?\s+(?:notes?|notice|instructions?|guidance|hints?))?\s*[:,])"
_VERDICT = (
    r"(?:(?:please\s+|must\s+|should\s+|always\s+|just\s+)(?:simply\s+)?(?:approve|accept|pass|merge)\b|\bapprove\s+(?:this|it|the|automatically|immediately|without)|"
    r"auto(?:matically)?[\s-]*(?:approve|accept|merge)|\blgtm\b|verdict\s*[=:]?\s*[\"']?(?:pass|accept|approve)|"
    r"(?:mark|classify|treat|rate|report|label|consider|score)\b.{0,40}\b(?:as\s+)?(?:approved|accepted|passed|passing|safe|low[\s-]risk|verified|correct|compliant|green)|"
    r"(?:was|is|been|already)\s+(?:already\s+)?(?:pre-?)?approved\b|no (?:findings|issues|problems|violations)\b|(?:return|answer|respond|reply|output)\s+(?:only\s+)?(?:with\s+)?[\"'`]?(?:pass|accept|approve|verdict|ok|yes|true)\b)"
)
_SIGNED = (
    r"(?:(?:[:,]|should|must|shall|please|always|(?:is|are) (?:to|asked to|expected to|instructed to))\s+(?:simply\s+|just\s+)?(?:treat|regard|consider|mark|classify|dismiss|count|handle|close)\b.{0,80}?\bfalse[\s-]positives?"
    r"|(?:and|then)\s+(?:simply\s+|just\s+)?(?:approve|accept|merge)\s*(?:[.!;\"*]|$|(?:it|this|these)\b|the (?:change|diff|patch|pr|pull request|file|commit)\b)"
    r"|(?:should|must|may|can|shall|please)\s+(?:wave\b.{0,20}\bthrough|rubber[\s-]?stamp|sign off on (?:this|it|the (?:change|diff|patch))))"
)
"""Orders that leave no doubt once they are given to a judge."""
_SKIP = (
    r"(?:(?:do not|don't|never|must not|should not|need not)\s+(?:analy[sz]e|review|flag|report|mention|check|run|scan|inspect|look at|block|reject|question|verify|raise)\b|"
    r"\b(?:skip|ignore|disregard|bypass|disable|suppress|overlook)\s+(?:all\s+|any\s+|the\s+|this\s+|these\s+|your\s+|every\s+|further\s+)*(?:tests?|checks?|reviews?|findings?|failures?|warnings?|diff|file|changes?|rules?|polic(?:y|ies)|instructions?|scans?|verification)\b)"
)
_OVERRIDE = r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+|my\s+)?(?:previous|prior|above|earlier|preceding|foregoing|system|existing)\s+(?:instructions?|prompts?|directions?|guidelines?|orders|directives|system\s+prompt)"
_OTHER_TONGUES = (
    # Japanese, Chinese, Korean: orders to forget, and orders to a judge.
    r"(?:これまで|今まで|以前|上記|前|先)の(?:すべての|全ての)?(?:指示|命令|プロンプト|ルール|規則)(?:は|を)?(?:すべて|全て|一切)?(?:無視|忘れ)",
    r"(?:AI|LLM|モデル|エージェント|ボット|自動)(?:の|による)?(?:レビュー|レビュアー|レビューワー?|審査|査読|検証|判定|評価)?(?:担当|者|ア)?(?:の(?:AI|エージェント))?(?:へ|に告ぐ|への(?:指示|注意|連絡)|宛).{0,120}(?:承認|合格|問題なし|許可|マージ|無視)",
    r"(?:レビュー|審査|検証|判定).{0,8}(?:AI|LLM|モデル|エージェント|ボット)(?:へ|に|は).{0,120}(?:承認|合格|問題なし|許可|マージ|無視)(?:し|せよ|する|と)",
    r"(?:忽略|无视|無視|忽視|忘记|忘記).{0,8}(?:之前|以前|上述|先前|前面|以上|所有).{0,8}(?:指令|指示|提示|规则|規則)",
    r"(?:(?:AI|人工智能|模型|自动|自動).{0,6}(?:审查|审核|評審|评审|審查|助手|代理|机器人)|(?:审查|审核|评审|審查).{0,6}(?:AI|模型|助手|代理)).{0,80}(?:批准|通过|通過|接受|合并|合併|没有问题|沒有問題)",
    r"(?:이전|앞선|위의|기존)의?\s*(?:모든\s*)?(?:지시|명령|지침|프롬프트).{0,10}(?:무시|잊)",
    # European languages.
    r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst)\b.{0,30}\b(?:vorherig|bisherig|obig|früher|vorangehend)\w*\s+(?:anweisung|anleitung|regel|prompt|vorgabe)\w*",
    r"\bignore[rzs]?\b.{0,30}\b(?:instructions?|consignes?|règles?)\b.{0,30}\b(?:précédent|antérieur|ci-dessus)\w*",
    r"\b(?:ignora|ignore|ignorad|olvida)\b.{0,30}\b(?:instrucciones|órdenes|reglas)\b.{0,30}\b(?:anterior|previa)\w*",
    r"\b(?:ignore|esqueça|desconsidere)\b.{0,30}\b(?:instruções|ordens|regras)\b.{0,30}\b(?:anterior|prévia)\w*",
    r"\bignora(?:te)?\b.{0,30}\b(?:istruzioni|regole)\b.{0,30}\bprecedent\w*",
    r"(?:игнорируй|проигнорируй|забудь)\w*.{0,30}(?:предыдущ|прежн|прошл)\w*.{0,20}(?:инструкци|указани|правил)",
    r"\b(?:ki|ai)-(?:prüfer|gutachter|reviewer)\w*\b.{0,120}\b(?:genehmig|freigeb|akzeptier)\w*",
)
"""Phrases of other languages; few, since only a person can weigh what stands between the words."""
_TOOL = (
    r"\b(?:automated|automatic|ai|llm|machine|bot|security|static|verification|merge|quality|review|policy|secret)[\s-]+(?:code[\s-]+)?"
    r"(?:reviews?|reviewers?|analysis|analy[sz]ers?|scanners?|scans?|scanning|checkers?|tools?|tooling|bots?|assistants?|agents?|systems?|gates?|audit(?:s|ors?)?)\b"
)
_MAY = r"(?:should|must|may|can|shall|please|need not|needn't|(?:is|are) (?:to|asked to|expected to)|(?:do|does) not (?:need|have) to)"
_LEAVE = (
    r"(?:(?:approve|accept|pass|merge)\s+(?:it|this|these|the (?:change|diff|patch|pr|pull request|file|commit))\b"
    r"|(?:treat|regard|consider|mark|classify|dismiss|count)\b.{0,80}?\b(?:false[\s-]positives?|safe|approved|accepted|harmless)"
    r"|(?:skip|ignore|disregard|bypass|overlook)\s+(?:it|this (?:file|module|diff|change|commit|function|class|folder|directory|package|patch|pr)|these (?:files|changes|lines)|(?:all |any |the )?findings)\b"
    r"|not (?:flag|report|block|reject|question|review|inspect|scan|raise)\s+(?:it|this|these|anything|(?:any |the )?findings|the (?:change|diff|patch|file|commit))\b)"
)
_DONE = (
    r"(?:(?:already|previously|fully)\s+(?:been\s+)?(?:audited|vetted|cleared|signed[\s-]off|security[\s-]reviewed)|\bpre-?approved"
    r"|(?:audited|vetted|cleared|reviewed|verified)\s+and\s+(?:signed[\s-]off|approved|cleared)|signed[\s-]off\s+by\s+(?:the\s+)?[\w-]+\s+team)"
)
_NO_NEED = (
    r"(?:no (?:further |additional |more |second )?(?:review|scrutiny|audit)s? (?:is |are )?(?:needed|required|necessary)|no need (?:to|for) (?:a )?(?:re-?)?(?:review|check|scan|verify|audit|look at)"
    r"|needs? no (?:further )?review|(?:safe|ok(?:ay)?) to (?:approve|merge|wave through)|false[\s-]positives?\b.{0,40}\bapprove)"
)
_WEAK_TONGUES = (
    r"\b(?:automatisch|automatisiert|maschinell|ki)\w*[\s-]+(?:code-?)?(?:prüf|review|gutacht|begutacht|analyse)\w*\b.{0,120}\b(?:genehmig|freigeb|freizugeb|akzeptier|durchwink|fehlalarm|falsch[\s-]?positiv|überspring|nicht (?:prüf|meld|beanstand))\w*",
    r"\b(?:hinweis|anmerkung|notiz) (?:an|für) (?:die |den |alle )?(?:prüfer|reviewer|gutachter)\w*\b.{0,120}\b(?:genehmig|freigeb|freigegeben|akzeptier|fehlalarm|falsch[\s-]?positiv|überspring|bereits (?:geprüft|abgenommen))\w*",
    r"\b(?:relecteurs?|réviseurs?|évaluateurs?|revues?|relectures?|assistants?|robots?)\s+(?:de (?:code|revue)\s+)?(?:automati\w+|ia)\b.{0,120}\b(?:approuv\w+|accept(?:er|ez)|valid(?:er|ez)|faux[\s-]positifs?|ignor(?:er|ez))",
    r"\b(?:revisor(?:es)?|revisi(?:ón|ones)|asistentes?|robots?)\s+(?:de (?:código|revisión)\s+)?(?:automátic\w+|automatizad\w+|ia)\b.{0,120}\b(?:aprob(?:ar|ad)|aprueb\w+|acept(?:ar|en)|falsos? positivos?|ignor(?:ar|en))",
    r"\b(?:revisor(?:es)?|revis(?:ão|ões)|assistentes?)\s+(?:de código\s+)?(?:automátic\w+|automatizad\w+|ia)\b.{0,120}\b(?:aprov(?:ar|em)|aceit(?:ar|em)|falsos? positivos?)",
    r"\b(?:revisor[ei]|revisioni|assistenti?)\s+(?:di codice\s+)?(?:automatic\w+|ia)\b.{0,120}\b(?:approv(?:are|ino|a)|accett(?:are|ino)|falsi positivi)",
    r"(?:автоматическ\w+|ИИ)[\s-]+(?:ревью|проверк|рецензент|проверяющ)\w*.{0,120}(?:одобр|приня|ложн\w+ срабатыван|пропус)\w*",
    r"(?:自動|AI|LLM|ボット)(?:の|による|コード)?(?:レビュ|審査|検証|査読|解析)[ーアァワ]*(?:者|担当|ツール|システム)?(?:は|では|には|なら|の方は).{0,120}(?:誤検知|誤検出|偽陽性|承認して|承認する|スキップ|無視|指摘しない)",
    r"(?:レビュア|レビューワ|査読者)ー?(?:へ|への注意|各位|向け).{0,120}(?:誤検知|偽陽性|承認済|監査済|承認して|確認不要|レビュー不要)",
    r"(?:自动|自動|AI|机器|機器)(?:代码|代碼)?(?:审查|審查|审核|審核|评审|評審|扫描|掃描).{0,80}(?:误报|誤報|批准|跳过|跳過|忽略)",
    r"(?:자동|AI)\s*(?:코드\s*)?(?:리뷰|검토|심사|검증)\S*.{0,80}(?:승인|오탐|무시|통과)",
)
"""What a document on reviewing might say as well: a person tells."""
_RARE = re.compile("review|scan|audit|approv|prüf|gutacht|revis|réviseu|revue|relect|évaluat|reviewer|analy|assistant|robot|bot|gate|tool|system|ревью|провер|рецензент|レビュ|審査|検証|査読|解析|审|審|评|評|扫|掃|리뷰|검토|심사|검증", re.IGNORECASE)  # fmt: skip
_OPEN = {"\u300c": "\u300d", "\u300e": "\u300f", "\u00ab": "\u00bb", "\u201e": "\u201c", "\u2018": "\u2019"}
_LEAD = re.compile(r"^\s*(?:#+|//+|/?\*+/?|--|;+|<!--|%+|\"\"\"|'''|>)?\s?")
_CITED = re.compile(r"\s*>\s")
"""A citation set off from the text: most often an example of such an order."""
_WINDOW = 4
_MAX_LINE = 2000


@dataclass(frozen=True, slots=True)
class Note:
    """An order found. `quoted` says that it stands inside quotation marks: text about such orders, or test data."""

    line: int
    text: str
    quoted: bool
    doubtful: bool = False
    """Such words also stand in honest texts on reviewing or on tools."""


@cache
def _override() -> re.Pattern[str]:
    return re.compile("|".join([_OVERRIDE, *_OTHER_TONGUES]), re.IGNORECASE)


@cache
def _orders() -> tuple[re.Pattern[str], ...]:
    """Compiled where the first text is read: the largest expressions here, and not every start reads one."""
    judged = "(?:" + _JUDGE + "|" + _ADDRESSED + r").{0,240}?(?:" + _VERDICT + "|" + _SIGNED + "|" + _SKIP + ")"
    person = _PERSON + r".{0,240}?(?:" + _VERDICT + "|" + _SIGNED + ")"
    return tuple(re.compile(p, re.IGNORECASE) for p in (judged, person))


@cache
def _doubtful() -> re.Pattern[str]:
    told = _TOOL + r"[^.]{0,120}?\b" + _MAY + r"\s+(?:\w+ly\s+|just\s+)?" + _LEAVE
    person = _PERSON + r".{0,160}?(?:" + _DONE + "|" + _NO_NEED + "|" + _SKIP + ")"
    signed = f"{_DONE}.{{0,160}}?{_NO_NEED}|{_NO_NEED}.{{0,160}}?{_DONE}"
    return re.compile("|".join([told, person, signed, *_WEAK_TONGUES]), re.IGNORECASE)


def reviewer_note(lines: Sequence[tuple[int, str]]) -> Note | None:
    """The first order to a judge in `lines` ((number, text), ascending), an unquoted one before a quoted one.

    A text that merely quotes the classic override phrase is no order at all.
    """
    weak: Note | None = None
    for at, (number, whole) in enumerate(lines):
        line = whole[:_MAX_LINE]
        found = _override().search(line)
        if found and not _quoted(line, found.start()):
            note = Note(number, line.strip()[:300], False, doubtful=bool(_CITED.match(line)))
            if not note.doubtful:
                return note
            weak = weak or note
        joined = _LEAD.sub("", line)
        begin = len(joined)
        for (previous, _), (following, text) in zip(
            lines[at : at + _WINDOW], lines[at + 1 : at + 1 + _WINDOW], strict=False
        ):
            if following != previous + 1 or not text.strip():
                break
            joined += " " + _LEAD.sub("", text[:_MAX_LINE])
        orders = (*_orders(), _doubtful()) if _RARE.search(joined) else _orders()
        for order in orders:
            hit = order.search(joined)
            if hit is None or hit.start() >= begin:
                continue
            note = Note(
                number,
                joined[max(0, hit.start() - 40) : hit.end() + 80].strip()[:300],
                _quoted(joined, hit.start()),
                order is _doubtful(),
            )
            if not note.quoted and not note.doubtful:
                return note
            # What is merely quoted and doubtful is a text about such orders.
            if not (note.quoted and note.doubtful):
                weak = weak or note
    return weak


def _quoted(line: str, at: int) -> bool:
    """True where an odd number of one kind of quotation mark stands before the place on this line."""
    before = line[:at]
    if any(before.count(a) > before.count(b) for a, b in _OPEN.items()):
        return True
    return (
        before.count('"') % 2 == 1
        or before.count("`") % 2 == 1
        or "\u201c" in before
        or len(re.findall(r"(?<!\w)'", before)) % 2 == 1
    )
