"""Results as JSON lines: what is there is not run again."""

import json
from pathlib import Path


class Ledger:
    """A file of records {set, size, task, seed, method, program, …}; a later record replaces an earlier one."""

    def __init__(self, path):
        self.path, self.records = Path(path), {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the end of a run that was stopped: it is run again
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
        """The records of the rivals and of one build of ours (of the latest build if none is given), of tables of a
        size."""
        programs = [record["program"] for record in self.records.values() if record.get("program")]
        program = program or (programs[-1] if programs else "")
        return [
            record
            for record in self.records.values()
            if record.get("program", "") in ("", program) and record.get("size", size) == size
        ]
