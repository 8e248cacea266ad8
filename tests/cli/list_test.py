#!/usr/bin/env python3
"""`taskbench list`: what can be measured."""

import json

from schemas import GONE, SCHEMAS, SchemaCase
from taskbench_command import CommandTest, main

WORKLOADS = ["chained_spawn", "ping_pong", "spawn_many", "spawn_local", "yield_many",
             "fib", "skynet", "nqueens", "matmul", "uts_geometric", "uts_binomial", "sort",
             "channel", "imbalance", "blocking_calls", "fairness", "wake_under_load",
             "timer", "timeouts", "echo", "tcp_ping_pong", "accept_storm", "http_hello",
             "grpc_unary"]


class List(CommandTest):
    def test_workloads(self):
        rows = self.listed("workloads")
        self.assertEqual([row["name"] for row in rows], WORKLOADS)
        text = self.taskbench("list", "workloads").stdout
        for row in rows:
            line = next(line for line in text.splitlines() if line.startswith(row["name"]))
            self.assertIn(row["summary"], line)
            for parameter in row["parameters"]:
                self.assertIn(f"{parameter['name']}={parameter['default']}", line)

    def test_a_narrow_terminal_loses_and_breaks_no_word(self):
        wide = self.taskbench("list").stdout
        for columns in (80, 60):
            narrow = self.taskbench("list", env={"COLUMNS": str(columns)}).stdout
            self.assertLessEqual(max(map(len, narrow.splitlines())), columns)
            self.assertEqual(sorted(narrow.split()), sorted(wide.split()))

    def test_schedulers(self):
        rows = self.listed("schedulers")
        single = {row["name"]: row["single_worker"] for row in rows}
        self.assertIs(single["work_stealing"], False)
        self.assertIs(single["current_thread"], True)
        text = self.taskbench("list", "schedulers").stdout
        for row in rows:
            self.assertIn(row["name"], text)
            self.assertIn(row["summary"], text)

    def test_parameters_with_defaults_and_ranges(self):
        rows = self.listed("parameters")
        self.assertTrue(set(row["workload"] for row in rows) <= set(WORKLOADS))
        text = self.taskbench("list", "parameters").stdout
        for row in rows:
            self.assertLessEqual(row["min"], row["default"])
            self.assertLessEqual(row["default"], row["max"])
            target = f"{row['workload']}.{row['name']}"
            line = next(line for line in text.splitlines() if line.startswith(target + " "))
            words = line.split()
            self.assertEqual(words[1:3], [str(row["default"]), f"{row['min']}..{row['max']}"])
            self.assertTrue(line.endswith(row["description"]))

    def test_without_a_topic_everything(self):
        text = self.taskbench("list").stdout
        for title in ("WORKLOAD", "SCHEDULER", "RUNG", "PARAMETER"):
            self.assertIn(title, text)
        for line in text.splitlines():
            self.assertEqual(line, line.rstrip())
        everything = json.loads(self.taskbench("list", "--format", "json").stdout)
        self.assertEqual(set(everything), {"workloads", "schedulers", "rungs", "parameters"})

    def test_every_format_has_every_row(self):
        names = [row["name"] for row in self.listed("schedulers")]
        begins = {"table": "SCHEDULER  ", "markdown": "| SCHEDULER | WORKERS |",
                  "csv": "SCHEDULER,WORKERS,", "html": "<!DOCTYPE html>\n", "json": "{\n"}
        for form, begin in begins.items():
            with self.subTest(form):
                text = self.taskbench("list schedulers --format", form).stdout
                self.assertTrue(text.startswith(begin), text[:80])
                for name in names:
                    self.assertIn(name, text)


class Json(SchemaCase, CommandTest):
    schema_path = SCHEMAS / "list-v1.schema.json"

    def test_it_keeps_to_its_schema(self):
        document = json.loads(self.taskbench("list --format json").stdout)
        self.check(document, (
            ("workloads 0 name", ""),
            ("workloads 0 parameters 0 default", "1"),
            ("schedulers 0 single_worker", None),
            ("rungs 0 step", GONE),
            ("parameters 0 workload", GONE),
        ), new_keys=("workloads 0 new_key", "rungs 0 new_key"))
        for topic, rows in document.items():
            self.assertEqual(json.loads(self.taskbench(f"list {topic} --format json").stdout),
                             {topic: rows})


if __name__ == "__main__":
    main()
