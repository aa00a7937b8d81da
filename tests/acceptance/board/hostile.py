"""Strings that would run if they became part of a page, in every field that takes a string."""

from __future__ import annotations

import json

from tests.acceptance.board.laboratory import Laboratory, report
from tests.waiting import until

CORPUS = (
    "<img src=x onerror=ran('img')>",
    "<script>ran('script')</script>",
    "\"><svg onload=ran('svg')>",
    "'-ran('quote')-'",
    "javascript:ran('url')",
    "</script><script>ran('closed')</script>",
    "</style><script>ran('style')</script>",
    "<iframe srcdoc=\"<script>parent.ran('frame')</script>\">",
    "{{constructor.constructor('ran(1)')()}}",
    "${ran('template')}",
    "<a href=\"javascript:ran('link')\">link</a>",
    "[link](javascript:ran('markdown'))",
    "[link](JaVa\tscript:ran('tab'))",
    "![x](x\" onerror=\"ran('picture'))",
    "<https://x\" onmouseover=\"ran('auto')>",
    "&lt;img src=x onerror=ran('twice')&gt;",
    "<details open ontoggle=ran('toggle')>",
    "<input autofocus onfocus=ran('focus')>",
    "<math><mtext><table><mglyph><style><img src=x onerror=ran('mutation')>",
    "\x1b]8;;javascript:ran('terminal')\x07link\x1b]8;;\x07",
    "data:text/html,<script>ran('data')</script>",
    "__proto__",
    "constructor",
    "\u202eran('right to left')",
)
ALL = " ".join(CORPUS)
FIRST = CORPUS[0]  # what a test looks for, to see that it was shown at all
FILE = FIRST + ".json"  # a path may hold it

RUN = r"""
import json, logging, pathlib, sys
import paddock
from paddock.monitor import Progress
from paddock.monitor.usage import Usage

corpus = json.loads(pathlib.Path("corpus.json").read_text())
everything, first = " ".join(corpus), corpus[0]
run = paddock.init(
    project=first, name=everything, group=first, job_type=first, tags=corpus, notes=everything,
    config={text: text for text in corpus} | {"nested": {text: [text] for text in corpus}},
    capture_logging=True, usage=True,
)
Usage.checkpoint(everything)
for step in range(3):
    run.log({text: float(step) for text in corpus} | {f"group/{text}": float(step) for text in corpus}, step=step)
run.log_info({text: text for text in corpus})
run.summary.update({text: text for text in corpus})
run.log_text(first, everything)
run.mark(everything, {first: everything}, step=1)
run.alert(everything, everything, level="error")
for text in corpus:
    print(text)
    logging.warning("%s", text)
file = pathlib.Path(run.dir) / (first + ".txt")
file.write_text(everything)
run.save(file)
page = pathlib.Path(run.dir) / "page.html"
page.write_text(everything)
run.save(page)
out = pathlib.Path("out") / first
out.mkdir(parents=True, exist_ok=True)
(out / (first + " step=7.json")).write_text("1")
bar = Progress.new(total=10, msg=tuple(corpus), unit=first)
bar.advance(3)
if "--fail" in sys.argv:
    raise ValueError(everything)
paddock.ask(everything, choices=corpus)
"""
EVALUATE = """
import json, pathlib

def score(path):
    corpus = json.loads(pathlib.Path("corpus.json").read_text())
    if "step=7" in path:
        return {text: 1.0 for text in corpus}
    raise ValueError(" ".join(corpus))
"""


def fill(lab: Laboratory) -> None:
    (lab.work / "corpus.json").write_text(json.dumps(CORPUS))
    (lab.work / "run.py").write_text(RUN)
    (lab.work / "evaluate.py").write_text(EVALUATE)
    (lab.work / "out").mkdir()
    asking = lab.python("run.py")
    lab.python("run.py", "--fail").wait(60)
    until(lambda: lab.get("/questions")["questions"])
    (lab.work / "out" / FIRST / (FIRST + " step=8.json")).write_text("1")
    for extra in ((), ("--chk", f"false # {ALL}")):
        lab.paddock("submit", "--no-snapshot", "--name", ALL, "--project", FIRST, *extra, "--", f"false # {ALL}")
    evaluator = ("--evaluator", "evaluate.py:score", "--regex-filter", r"\.json$", "--quiet-time", "0.1s")
    lab.paddock("watch", "out", *evaluator, "--eval-existing", "--once", "--num-eval-workers", "0", "--quiet")
    lab.start("worker", "default", "evaluation")
    until(lambda: len(list(lab.home.glob("queues/evaluation/done/*"))) == 1)
    until(lambda: list(lab.home.glob("queues/default/failed/*")))
    runs = [run["id"] for run in lab.get("/runs?limit=500")["runs"] if run["metrics"]]
    lab.post("/reports", report(FIRST, "\n\n".join(CORPUS), runs[:2]))
    assert asking.poll() is None
