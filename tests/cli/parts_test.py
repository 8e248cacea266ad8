#!/usr/bin/env python3
"""`ab` and `gate` whose blocks come from many machines: --part."""

import json

from taskbench_command import CommandTest, main


class PartsTest(CommandTest):
    def part(self, number, of, options="", base="a", head="b", command="gate", **others):
        """Measures a part into p<number>."""
        return self.taskbench(f"{command} --base ./{base} --head ./{head} --part {number}/{of} "
                              f"--journal p{number} --exact off {options}", **others)

    def parts(self, of, options="", **others):
        for number in range(1, of + 1):
            self.part(number, of, options, **others)
        return [f"p{number}" for number in range(1, of + 1)]

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def sides_of(self, name):
        """The order of each block: whether it begins with base."""
        samples = [line for line in self.lines(name) if "position" in line]
        return [samples[at]["side"] == "base" for at in range(0, len(samples), 4)]


class Parts(PartsTest):
    def test_each_has_its_share_of_one_plan_and_gives_no_verdict(self):
        self.program("a")
        self.program("b", "sort=1100 hash=500")
        answer = self.part(1, 3, "--max-blocks 8")
        self.assertIn("part 1 of 3: 3 blocks, in p1\n", answer.stdout)
        self.assertIn("taskbench gate --merge JOURNAL...", answer.stdout)
        self.part(2, 3, "--max-blocks 8")
        self.part(3, 3, "--max-blocks 8")
        parts = [self.sides_of(f"p{number}") for number in (1, 2, 3)]
        self.part(1, 1, "--max-blocks 8")
        whole = self.sides_of("p1")
        self.assertEqual(whole, [parts[block % 3][block // 3] for block in range(8)])
        self.assertEqual([len(part) for part in parts], [3, 3, 2])
        plans = {self.lines(f"p{number}")[0]["part"]["plan"] for number in (2, 3)}
        self.assertEqual(len(plans), 1)
        self.part(2, 3, "--max-blocks 8 --seed 2")
        self.assertNotIn(self.lines("p2")[0]["part"]["plan"], plans)

    def test_a_part_tells_its_machine_and_measures_as_every_other_part_does(self):
        self.program("a")
        self.program("b")
        self.part(2, 2, "--max-blocks 4 --budget 1s")
        setup = self.lines("p2")[0]
        self.assertIn("cpu_model", setup["part"]["kind"])
        self.assertRegex(setup["part"]["machine"], "^[0-9a-f]{8}$")
        self.assertEqual((setup["repetitions"], setup["min_time_s"]), (9, 0.001))
        self.assertNotIn("--part", setup["reproduce"])

    def test_a_part_that_was_killed_goes_on_on_its_own_machine_only(self):
        self.program("a")
        self.program("b")
        self.part(2, 2, "--max-blocks 8")
        complete = self.sides_of("p2")
        self.cut("p2", 7)
        answer = self.taskbench("gate --resume --journal p2")
        self.assertIn("part 2 of 2: 4 blocks", answer.stdout)
        self.assertEqual(self.sides_of("p2"), complete)
        self.cut("p2", 7)
        setup, *others = self.read("p2").splitlines(keepends=True)
        machine = json.loads(setup)["part"]["machine"]
        self.write("p2", setup.replace(machine, "01234567") + "".join(others))
        self.refused("gate --resume --journal p2", says="was begun on another machine")
        self.refused("gate --base ./a --head ./b --resume --journal p2 --part 1/2",
                     says="p2 is part 2/2 of a trial, not part 1/2")

    def test_what_makes_no_part(self):
        self.refuse("gate --base a --head b --journal p --part", {
            "3": "--part '3': give I/N, such as 3/8",
            "4/3": "4",
            "0/3": "0",
            "x/3": "x",
            "1/9 --max-blocks 8": "there are only 8 blocks",
        })
        self.refused("gate --base a --head b --part 1/2", says="--journal")


if __name__ == "__main__":
    main()
