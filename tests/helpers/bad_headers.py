"""BAD_HEADERS: ways to spoil the header of a run, and what the validator must say of each."""

from tests.helpers.good_submission import VERSIONS
from tests.helpers.spoil import ADVERSARIAL_ID, LOCAL, LOCAL_ID, Spoil, header, text

_JSON = f"{LOCAL}/seed-000.json"
BAD_HEADERS: dict[str, tuple[Spoil, str]] = {
    "header: unknown key": text(_JSON, '"agent"', '"aaa": 1,\n "agent"', "aaa: Extra inputs"),
    "header: missing key": text(_JSON, ' "threads": 1,\n', "", "threads: Field required"),
    "header: duplicate key": text(_JSON, '"agent"', '"agent": "a",\n "agent"', "occurs twice"),
    "header: other spacing": text(_JSON, '"seed": 0', '"seed":  0', "as the store writes headers"),
    "header: 5.0 for 5": text(_JSON, '"threads": 1', '"threads": 1.5', "threads: Input should be"),
    "header: boolean seed": text(_JSON, '"seed": 0', '"seed": false', "seed: Input should be"),
    "header: control character": header("holds the control character", machine={"a": "\x07"}),
    "header: long text": header("a text of more than 200", machine={"a": "x" * 201}),
    "header: schema": header("has schema 2 instead of 1", schema=2),
    "header: unfinished": header("is not finished", finished=False),
    "header: synthetic": header("is synthetic|its source is not", source="a Synthetic generator"),
    "header: fingerprint": header("is not feafdafd3c947b16", fingerprint="0123456789abcdef"),
    "header: other task": header("are not those of its path", task=ADVERSARIAL_ID),
    "header: other version": header("are not those of its path", task=LOCAL_ID[:-1] + "1"),
    "header: other seed": header("are not those of its path", seed=2),
    "header: other agent": header("are not those of its path", agent="sac"),
    "header: dirty": header("uncommitted changes|its code is not",
                            code={"commit": "0" * 40, "dirty": True}),
    "header: short commit": header("code must be a full commit|its code is not",
                                   code={"commit": "0" * 7, "dirty": False}),
    "header: no code": header("code must hold commit and dirty|its code is not", code={}),
    "header: short budget": header("budget of 99 episodes is not within 100|holds 200|its budget",
                                   episodes=99),
    "header: long budget": header("budget of 5001 episodes is not|holds 200|its budget",
                                  episodes=5_001),
    "header: no threads": header("threads must be 1 to 1024, not 0", threads=0),
    "header: many threads": header("threads must be 1 to 1024, not 1025", threads=1025),
    "header: versions": header("versions lack|its versions", versions={"python": "3.11.7"}),
    "header: version in words": header("version 3 / <b> of mujoco is not written|its versions",
                                       versions=VERSIONS | {"mujoco": "3 / <b>"}),
    "header: long version": header("of torch is not written|its versions",
                                   versions=VERSIONS | {"torch": "1" * 41}),
    "header: version of letters": header("version www.a.org of numpy is not written|its versions",
                                         versions=VERSIONS | {"numpy": "www.a.org"}),
    "header: no source": header("source holds no letter or digit|its source", source=""),
    "header: other source": header("its source is not that of", source="my own code"),
    "header: other code": header("its code is not that of",
                                 code={"commit": "0" * 40, "dirty": False}),
    "header: config of true for 1": header("its config is not that of", config={
        "rate": 0.001, "nested": {"on": 1}}),
    "header: line break in the config": header("control character U+000A|its config", config={
        "note": "a\nb"}),
    "header: line break in a key": header("control character U+000A|its config", config={"a\n": 1}),
    "header: long text in the config": header("a text of more than 200|its config", config={
        "note": ["x" * 201]}),
    "header: deep config": header("nested deeper than 4|its config", config={
        "a": {"b": {"c": {"d": {"e": 1}}}}}),
    "header: huge config": header("config holds 201 values, more than 200|its config", config={
        "layers": [1] * 200}),
    "header: huge number": header("not below 1e+09|its config", config={"updates": 10**9}),
    "header: huge hidden layer": header("not below 1e+09|its config", config={"hidden": [1e300]}),
    "header: other config": header("its config is not that of", config={"rate": 0.1}),
    "header: other versions": header("its versions is not that of", versions=VERSIONS | {
        "python": "3.11.8"}),
}  # fmt: skip
