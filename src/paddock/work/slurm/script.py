"""What Slurm is given: the arguments of sbatch, and the script. Pure: values in, text out.

The script starts a worker for its one task (`cli/only.py`) and does what a worker cannot do for itself: it starts it
again when it was killed, tells it when the job's time is nearly over, and has the job started once more when the worker
gave its task back.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paddock.amounts import parse_seconds
from paddock.errors import UsageError
from paddock.queue.engine import FROZEN
from paddock.queue.task import Task

# What may be said in the URL and by --engine, and the option of sbatch that it becomes.
OPTIONS = {
    "account": "account",
    "begin": "begin",
    "constraint": "constraint",
    "deadline": "deadline",
    "exclude": "exclude",
    "gres": "gres",
    "licenses": "licenses",
    "mem_per_cpu": "mem-per-cpu",
    "nice": "nice",
    "nodelist": "nodelist",
    "partition": "partition",
    "qos": "qos",
    "reservation": "reservation",
}
# Of sbatch's options, those that we give it; it takes any beginning of a name, and a value right behind a letter.
_OURS = (
    *("--job-name", "--array", "--output", "--error", "--comment", "--chdir", "--dependency", "--parsable"),
    *("--wrap", "--wait"),
)
_OUR_LETTERS = ("-J", "-a", "-o", "-e", "-D", "-d", "-W")
OWN = ("gpu_type", "options", "python", "setup", "time")  # which we see to ourselves
KNOWN = tuple(sorted((*OPTIONS, *OWN)))

WARNING_SECONDS = 60  # before the end of the time limit, for who runs without knowing it
SHORT_SECONDS = 300  # Slurm may warn a minute too early: not a job whose time is that short, and known to the worker
MOST_STARTS = 6  # of a worker that is killed again and again
SHORTEST_SECONDS = 30  # a worker that gave back sooner has not begun: starting the job again would not help
OUTPUT = ".jobs/.output"  # in the queue's directory


class Needs(NamedTuple):
    """What a job asks Slurm for. Tasks with the same needs can be one array."""

    arguments: tuple[str, ...]
    room: tuple[str, ...] = ()  # what a worker is told of it
    seconds: int = 0  # its time limit; 0 when the partition says it
    setup: str = ""
    python: str = ""


def needs(task: Task, place: str, options: Mapping[str, str]) -> Needs:
    """`options` are those of the queue's engine; what the task says itself goes first. UsageError with a sentence."""
    told = told_of(task.engine, options)
    if place:
        told.setdefault("partition", place)
    seconds = time_limit(told.get("time", ""))
    ranks = task.workers
    found = [f"--time={_minutes(seconds)}"] if seconds else []
    if task.gpus:
        kind = f"{told['gpu_type']}:" if told.get("gpu_type") else ""
        gres = [told.pop("gres")] if told.get("gres") else []
        found.append(f"--gres={','.join([f'gpu:{kind}{task.gpus * ranks}', *gres])}")
    if task.cpus or ranks > 1:
        found.append(f"--cpus-per-task={max(task.cpus, 1) * ranks}")
    if task.mem:
        found.append(f"--mem={math.ceil(task.mem * ranks / (1 << 20))}M")
    found += [f"--{OPTIONS[key]}={told[key]}" for key in sorted(told) if key in OPTIONS and told[key]]
    found += extra(told.get("options", ""))
    # Slurm has counted them; the worker, which may see more or less of the machine, is not to count again.
    room = [f"--slots={ranks}"] if ranks > 1 else []
    room += [f"--cpus={task.cpus * ranks}"] if task.cpus else []
    room += [f"--mem={task.mem * ranks}"] if task.mem else []
    return Needs(tuple(found), tuple(room), seconds, told.get("setup", ""), told.get("python", ""))


def told_of(engine: Mapping[str, object], options: Mapping[str, str]) -> dict[str, str]:
    """What a task says goes before what the queue says; UsageError, with a sentence, for what is not understood."""
    told = {**options, **{key: _text(key, value) for key, value in engine.items() if key != FROZEN}}
    unknown = sorted(set(told) - set(KNOWN))
    if unknown:
        raise UsageError(
            f"Slurm is told nothing about {', '.join(map(repr, unknown))}.",
            hint=f"There are {', '.join(KNOWN)}; anything else of sbatch's: options='--exclusive --mail-type=END'.",
        )
    time_limit(told.get("time", ""))
    extra(told.get("options", ""))
    return told


def extra(text: str) -> list[str]:
    """More options of sbatch, as they are written in a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"options={text!r} cannot be read as options of sbatch ({error}).") from None
    for word in words:
        name = word.partition("=")[0]
        if any(name == one or (len(name) > 3 and one.startswith(name)) for one in _OURS) or word[:2] in _OUR_LETTERS:
            raise UsageError(f"options={text!r}: {name} is Paddock's own.", hint="Leave it away.")
    return words


def time_limit(text: str) -> int:
    """In seconds. As everywhere in Paddock, and also as Slurm writes it: 4:00:00 and 1-12 are hours, 90 are seconds."""
    return math.ceil(parse_seconds(text)) if text.strip() else 0


def _text(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError(f"engine: {key}={value!r} is no text.", hint=f"Write --engine {key}=TEXT.")
    text = str(value)
    if "\0" in text or ("\n" in text and key != "setup"):
        raise UsageError(f"engine: {key}={text!r} has a line end in it.")
    return text


def _minutes(seconds: int) -> str:
    """Slurm counts in minutes; less than one is one."""
    minutes = max(math.ceil(seconds / 60), 1)
    days, rest = divmod(minutes, 1440)
    return f"{days}-{rest // 60:02d}:{rest % 60:02d}:00"


def arguments(
    needs: Needs,
    name: str,
    directory: str,
    comment: str,
    count: int,
    dependencies: Sequence[tuple[str, str]] = (),
    *,
    requeue: bool = True,
) -> list[str]:
    """For sbatch. `count`: of an array's elements; 1 is no array. `dependencies` are (when, job): success, failure or
    any."""
    output = f"{OUTPUT}/{name}{'-%A_%a' if count > 1 else '-%j'}.log"
    if _is_mangled(directory):
        output = "/dev/null"  # the script opens it itself
    found = [
        f"--job-name={name}",
        f"--comment={comment}",
        f"--chdir={directory}",
        f"--output={output}",
        "--open-mode=append",
        "--requeue" if requeue else "--no-requeue",
        *([] if 0 < needs.seconds < SHORT_SECONDS else [f"--signal=B:USR1@{WARNING_SECONDS}"]),
        *([f"--array=0-{count - 1}"] if count > 1 else []),
    ]
    words = {"success": "afterok", "failure": "afternotok", "any": "afterany"}
    if dependencies:
        told = ",".join(f"{words[when]}:{job}" for when, job in sorted(set(dependencies)))
        found += [f"--dependency={told}", "--kill-on-invalid-dep=yes"]
    return [*found, *needs.arguments]


def _shell(needs: Needs) -> str:
    """A setup is a line as people write it: `module` is a function of bash, which hands it on to its like alone."""
    return "#!/bin/bash" if needs.setup else "#!/bin/sh"


def _is_mangled(directory: str) -> bool:
    """Slurm replaces %j in all of the output's path, also in the names of directories, and takes backslashes away."""
    return "%" in directory or "\\" in directory


def quote(text: str) -> str:
    """For sh. sbatch refuses a script with DOS line ends, so a return is not written as it is."""
    return shlex.quote(text).replace("\r", """'"$(printf '\\r')"'""")


def script(
    tasks: Sequence[str], call: Sequence[str], queue: str, needs: Needs, name: str = "", grace: int = 20
) -> bytes:
    """`call` begins the command of a worker for one of the `tasks`: the queue, the task and numbers come behind it.
    `name` is the job's, for its own log."""
    lines = [_shell(needs), "# Written by Paddock: a worker for one task."]
    if len(tasks) > 1:
        lines.append('case "$SLURM_ARRAY_TASK_ID" in')
        lines += [f"{index}) task={quote(task)} ;;" for index, task in enumerate(tasks)]
        lines += ['*) echo "There is no task $SLURM_ARRAY_TASK_ID in this array." >&2; exit 2 ;;', "esac"]
        log = f'{OUTPUT}/{name}-"$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID".log'
    else:
        lines.append(f"task={quote(tasks[0])}")
        log = f'{OUTPUT}/{name}-"$SLURM_JOB_ID".log'
    if _is_mangled(queue):
        lines.append(f"exec >> {log} 2>&1")
    if needs.setup:
        lines += [needs.setup, _SET_UP]
    room = "".join(f" {word}" for word in needs.room)
    worker = f'{" ".join(map(quote, call))} {quote(queue)} "$task" --grace={grace}{room}'
    lines.append("began=$(date +%s)")
    if needs.seconds:  # else Slurm says when it is time, by a signal; to ask it would be a question for each task
        lines.append(f'SLURM_JOB_END_TIME="${{SLURM_JOB_END_TIME:-$((began + {needs.seconds}))}}"')
        lines.append("export SLURM_JOB_END_TIME")
    lines.append(_LOOP.format(worker=worker, starts=MOST_STARTS, shortest=SHORTEST_SECONDS, log=log).strip())
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def pilot(call: Sequence[str], directory: str, needs: Needs, name: str, count: int) -> bytes:
    """A worker for whatever the queue has. It knows by itself when its time is nearly over, and what TERM means."""
    element = '"$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID"' if count > 1 else '"$SLURM_JOB_ID"'
    log = f"{OUTPUT}/{name}-{element}.log"
    lines = [_shell(needs), "# Written by Paddock: a worker for a queue."]
    if _is_mangled(directory):
        lines.append(f"exec >> {log} 2>&1")
    if needs.setup:
        lines += [needs.setup, _SET_UP]
    lines.append(_END.format(seconds=needs.seconds).strip())
    lines.append(f"exec {' '.join(map(quote, call))}")
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


_HINTS = {
    # First: Slurm calls it "account or account/partition combination".
    "invalid account": "`sacctmgr show assoc user=$USER` lists yours; slurm://PARTITION?account=NAME names one.",
    "partition": "`sinfo` lists the partitions; slurm://PARTITION names one.",
    "qos": "`sacctmgr show qos` lists them; slurm://PARTITION?qos=NAME names one.",
    "time limit": "Ask for less with --time; `sinfo -o '%P %l'` lists what the partitions allow.",
    "configuration is not available": "No node has that much: ask for fewer --gpus, --cpus or less --mem.",
    "gres": "`sinfo -o '%P %G'` lists which GPUs there are.",
    "memory": "Ask for less with --mem.",
}


def advice(said: str) -> str:
    """Slurm's own words, and what helps."""
    hint = next((hint for word, hint in _HINTS.items() if word in said.lower()), "")
    return f"{said} {hint}".strip()


def full(said: str) -> str:
    """That it takes no more of a user's jobs now."""
    return f"{said} As many of your jobs as it allows are there: the others start when some of those are over."


# A task without what its setup should have given it would run, and be wrong.
_SET_UP = """code=$?
if [ "$code" -ne 0 ]; then
  echo "The setup ended with exit code $code: no task was begun. Where that does not matter, end it with '|| true'." >&2
  exit "$code"
fi"""

# When the job's time is over, if Slurm does not say it by itself (before 23.02).
_END = """
if [ -z "$SLURM_JOB_END_TIME" ]; then
  left={seconds}
  [ "$left" -gt 0 ] || left=$(squeue -h -j "$SLURM_JOB_ID" -o %L 2>/dev/null | awk -F '[-:]' '
    /^[0-9][0-9:-]*$/ {{ n = 0; for (i = 1; i <= NF; i++) n = n * (i == 2 && /-/ ? 24 : 60) + $i; print n }}')
  if [ "${{left:-0}}" -gt 0 ]; then SLURM_JOB_END_TIME=$(($(date +%s) + left)); export SLURM_JOB_END_TIME; fi
fi
"""

# TERM comes from Slurm to every process of the job, so that the worker has it already, and Slurm sees to what comes
# next: a job that somebody cancelled must not be started again. USR1, which announces the end of the time, comes to
# this shell alone.
_LOOP = """
ended=
trap ended=1 TERM
trap 'kill -TERM "$worker" 2>/dev/null' USR1
starts=0
while :; do
  {worker} &
  worker=$!
  while :; do
    wait "$worker"
    code=$?
    kill -0 "$worker" 2>/dev/null || break
  done
  starts=$((starts + 1))
  [ "$code" -gt 128 ] && [ "$starts" -lt {starts} ] || break
  echo "The worker was killed (signal $((code - 128))): another one takes its task." >&2
  sleep 1
done
case "$code" in
0 | 10) rm -f {log} ;;
75) [ "$ended" ] || [ $(($(date +%s) - began)) -lt {shortest} ] || scontrol requeue "$SLURM_JOB_ID" ;;
esac
exit "$code"
"""
