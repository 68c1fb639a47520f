"""Results as JSON lines: what is there is not run again. Those behind the page stand beside it, so that they last longer
than a machine."""

import json
from pathlib import Path

PROTOCOL = "tsi "  # how the tasks of TSI-Bench's protocol begin


class Ledger:
    """A file of records {set, size, task, seed, method, program, …}, after those of a page that was `published`; a later
    record replaces an earlier one."""

    def __init__(self, path, published):
        self.path, self.records = Path(path), {}
        for file in (Path(published), self.path):
            for line in file.read_text().splitlines() if file.exists() else ():
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the end of a run that was stopped: it is run again
                self.records.pop(self._key(record), None)  # the latest stand last
                self.records[self._key(record)] = record

    @staticmethod
    def _key(record):
        return tuple(record.get(part, "") for part in ("set", "size", "task", "seed", "method", "program"))

    def has(self, **key):
        return self._key(key) in self.records

    def add(self, **record):
        self.records[self._key(record)] = record
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write(json.dumps(record) + "\n")  # in one piece: two runs may share a file

    def of(self, program, size):
        """The records of the rivals and of one build of ours: that with this fingerprint, else the latest. The protocol of
        TSI-Bench is a run of its own: where that build has not finished it, the build that has most of it counts."""
        mine = [record for record in self.records.values() if record.get("program")]
        program = program or (mine[-1]["program"] if mine else "")
        runs = [record["program"] for record in mine if record["task"].startswith(PROTOCOL)]
        protocol = max([program, *runs], key=lambda name: (runs.count(name), name == program))
        builds = {True: ("", protocol), False: ("", program)}
        return [
            record
            for record in self.records.values()
            if record.get("size", size) == size
            and record.get("program", "") in builds[record["task"].startswith(PROTOCOL)]
        ]


def publish(records, path):
    """Writes the records that a page was made of, with six digits."""
    lines = sorted(json.dumps(_rounded(record), separators=(",", ":")) for record in records)
    Path(path).write_text("".join(f"{line}\n" for line in lines))


def _rounded(part):
    if isinstance(part, dict):
        return {key: _rounded(value) for key, value in part.items() if value != ""}
    if isinstance(part, list):
        return [_rounded(value) for value in part]
    return float(f"{part:.6g}") if isinstance(part, float) else part
