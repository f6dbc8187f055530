"""What the words around a query say of it: that it is the answer, a draft, an aside or the old query."""

import re
from typing import Literal

Standing = Literal["final", "plain", "rival", "draft", "aside", "old"]

# The words before a query that give it its standing: read in the last paragraph, the last line first.
_FINAL = re.compile(
    r"(?:\b(?:final|correct|corrected|revised|repaired|fixed|improved|updated|simplified|resulting|"
    r"complete|right|amended|adjusted|modified|new)\b(?:\s+(?!not\b)[\w/]+){0,4}"
    r"|\b(?:answer|solution)(?:\s+(?:query|sql|is))*"
    r"|\b(?:becomes|use (?:this|the following)(?: one| query)?|should (?:be|read)|instead)"
    r"|\u6700\u7ec8\w*|\u7b54\u6848\w*|\bendg\u00fcltige?\b[^:]*|\br\u00e9ponse\b[^:]*|\bconsulta final)"
    r"[\s:*_#.\uff1a`>]*\Z",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:not|never|n['\u2019]t)\s+(?:\w+\s+){0,2}(?:right|correct|work|valid|use|enough|write|be used)\b"
    r"|\b(?:wrong|incorrect|avoid|mistaken|invalid|fails|failed|failing|faulty|broken|rejected)\b"
    r"|\b(?:old|original|previous|earlier|existing|given|initial|first)\s+(?:\w+\s+){0,2}(?:query|one"
    r"|sql|version|form|statement)\b"
    r"|\b(?:old|original|previous|before)\s*:|\bcompar(?:ison|ed? (?:to|with))\b|\binstead of\b"
    r"|\b(?:common|typical|frequent) (?:mistake|error|pitfall)|\bmistake would be\b"
    r"|\A\W*falls\b|\bwenn (?:sie|du|man)\b|\bsi (?:tambi\u00e9n|quiere|desea|necesita|prefiere|vous|tu)\b"
    r"|\u5982\u679c|\u4e5f\u53ef\u4ee5"
    r"|\balternativ|\boptional|\bif you\b|\byou (?:can|could|may|might) also\b|\banother (?:way|form"
    r"|version)\b"
    r"|\balso (?:possible|works?|be (?:written|expressed|done|used))\b|\bequivalent|\bequally\b"
    r"|\bsame (?:result|as)\b|\b(?:shorter|longer|simpler|older) (?:form|version|query)\b"
    r"|\bto (?:check|verify|see|test|look|inspect|explore|find out|confirm|debug|understand)\b"
    r"|\b(?:quick|sanity) (?:test|check)\b|\btest query\b"
    r"|\blook(?:s|ing)? at\b|\bcheck (?:the|with|that|whether|how|which)\b|\b(?:output|example"
    r"|explain)\b\W*\Z"
    r"|\b(?:create|add) an? (?:\w+ )?index\b"
    r"|\b(?:postgres\w*|mysql|mariadb|sql server|oracle|bigquery|snowflake)\b"
    r"|\A\W*(?:if|in case|should)\b(?![^.\n]*\bbecomes\b)[^.\n]*[:,]\s*\Z",
    re.IGNORECASE,
)
# "If the year is a text instead, use": before an alternative.
_ALTERNATIVE = re.compile(
    r"\A\W*(?:if|in case)\b[^.\n]*,\s*(?:you (?:can|could|may|might) |then )?(?:use|try|write|run)\W*\Z",
    re.IGNORECASE,
)
# A line that introduces a query which is not the answer: "The failed query was:", "Original:".
_OLD = re.compile(
    r"(?:^|\.\s)[^.\n]{0,60}\b(?:old|original|failed|failing|previous|earlier|broken|wrong|incorrect"
    r"|faulty|before)\b[^.\n]{0,40}[:\uff1a]\s*\Z"
    r"|\b(?:(?:do|is|are|does|was)\s+not|never|n['\u2019]t)\s+(?:use|write|right|correct|valid"
    r"|work)\b[^.\n]*\Z"
    r"|^\W*(?:before|old|original)(?: (?:sql|query))?\W*\Z"
    r"|(?:\u5143\u306e|\u539f\u6765|\u539f\u59cb|\u539f\u67e5\u8be2|\u65e7|\u4fee\u6b63\u524d)[^\n]*[:\uff1a]\s*\Z",
    re.IGNORECASE,
)
# Words by which an old query stays the answer: "it is correct, so I keep it".
_KEPT = re.compile(
    r"\b(?:keep|kept|unchanged|as it (?:is|was)|stays)\b"
    r"|\b(?:is|was) (?:already |indeed )?(?:correct|right|valid|fine)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\bnot\b|n['\u2019]t\b", re.IGNORECASE)
# "A or B": which of them is the answer, it does not say.
_RIVAL = re.compile(r"(?:or|oder|ou|or else|or simply)\W*\Z", re.IGNORECASE)
# A question, which says nothing of a query.
_QUESTION = re.compile(r"(?:(?<=\n)|(?<=[.!?:]\s)|\A)[^.!?\n:]*\?[\s\"'\u201d)]*")
_DRAFT = re.compile(
    r"\bdraft\b|\b(?:first|initial|second|my) (?:attempt|try|idea|thought|guess|version)\b|\battempt \d|"
    r"\bstep \d|\bsub-?\s?(?:question|query)\b|\bpart \d|\blet me (?:start|begin|try)\b"
    r"|\bstart(?:ing)? with\b|"
    r"\bfirst(?:ly)?\b[^.\n]{0,80}\Z",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"\W*(?:hmm|wait|oops|hold on|scratch that|my mistake|sorry|on (?:second thought|reflection)|actually|"
    r"no[,.:!]|but (?:wait|that|this)|however,? (?:this|that)|is (?:not|wrong|incomplete)|correction|"
    r"let me (?:correct|fix|revise)|"
    r"(?:this|that|it) (?:(?:is|would be|seems) (?:wrong|not)|fail(?:s|ed)|raise[sd]|gives an error))\b"
    r"|(?:->|=>|\u2192|\u27f6)\s*`",
    re.IGNORECASE,
)
# "Wait, let me check. Yes, this is correct."
_CONFIRMED = re.compile(
    r"\b(?:yes|indeed|still|okay|ok)\b(?:(?!\bnot\b|n['\u2019]t)[^.?\n]){0,40}\b(?:correct|right|fine|good|holds|works)\b",
    re.IGNORECASE,
)
# A sentence after one query and before the next that speaks of the one above.
_ABOUT_THE_LAST = re.compile(
    r"\A\s*(?:(?:hmm|wait|oops|but|however)\W+)?(?:this|that|it|(?:the )?(?:first|above)(?: query| one)?)\b"
    r"(?!\s+(?:can|could|may|might)\b)(?:[^.:\n]|:(?!\s*\n))*(?:[.!](?=\s)|\n)",
    re.IGNORECASE,
)


def standing_of(before: str, after: str) -> Standing:
    """What the words around a query say of it."""
    lead = _QUESTION.sub("", _ABOUT_THE_LAST.sub("", re.sub(r"[*_#]{1,3}", "", before))).rstrip()
    last_line = lead.rpartition("\n")[2]
    paragraph = re.split(r"\n\s*\n", lead)[-1]
    sentence = re.split(r"(?<=[.!?])\s+", paragraph)[-1]
    if _ALTERNATIVE.match(sentence):
        return "aside"
    if _FINAL.search(last_line) and not _ASIDE.search(sentence[-60:]):
        return "final"
    if _RIVAL.match(lead.strip("`~ \n")):
        return "rival"
    if _OLD.search(last_line):
        return "plain" if _KEPT.search(sentence) and not _NOT.search(sentence) else "old"
    if _ASIDE.search(sentence):
        return "aside"
    if _DRAFT.search(paragraph) or is_withdrawn(after):
        return "draft"
    return "plain"


def is_withdrawn(after: str) -> bool:
    """Whether the words after a query take it back."""
    return bool(_WITHDRAWN.match(after.lstrip("`~*\n \t"))) and not _CONFIRMED.search(after[:300])


def is_called_final(before: str) -> bool:
    """Whether the last words before a query call it the answer."""
    return bool(_FINAL.search(re.sub(r"[*_#]{1,3}", "", before)))
