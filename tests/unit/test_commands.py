"""Proves that the command line does what it says: every command is listed and works, or ends in a sentence.

Commands run as a reader runs them, through `main` with their arguments; what they print is compared with what the
libraries beneath give, and files they write are read back. A reader's SQL can neither write nor reach another file.
"""

import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from family_specimens import randomised
from PIL import Image
from pypdf import PdfReader
from tiny_tokenizers import sentencepiece_bpe
from transformers import LlamaConfig, LlamaModel

from analysis import commands
from analysis.encodings import ENCODINGS, encode as table_of
from analysis.links import VIEWS, link
from analysis.measurements.terms import FOUR, TERMS
from analysis.store import read

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: its exit code, what it printed, and what it said on stderr."""
    # Rich fits tables to the terminal; a wide one keeps sentences on one line.
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["analysis", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            commands.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def refused(answer: tuple[int, str, str], *expected: str) -> None:
    """A command ended with 1, no output, and one sentence."""
    code, out, error = answer
    assert code == 1
    assert out == ""
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error
    for part in expected:
        assert part in error


# Completeness


def test_help_lists_every_command() -> None:
    """In a process of its own, without the torch that only some commands need."""
    code = (
        "import sys; sys.argv = ['analysis', '--help']\n"
        "try:\n    from analysis.__main__ import main; main()\n"
        "finally:\n    assert 'torch' not in sys.modules and 'streamlit' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    listed = re.findall(r"^│ ([a-z][a-z-]*)  +\S", done.stdout, flags=re.M)
    assert sorted(listed) == sorted(commands.command_name(name) for name in commands.COMMANDS)


def test_a_measurement_has_its_name_of_today_and_of_before(run: Run) -> None:
    """Stored results name the commands that made them, so that those go on working."""
    assert set(commands.ALIASES.values()) < set(commands.measure.KINDS)
    for before, kind in commands.ALIASES.items():
        (_, old, _), (_, new, _) = run(before, "--help"), run("measure", kind, "--help")
        assert old.split("\n", 2)[2] == new.split("\n", 2)[2], "the same options and the same sentence"
        assert f"measure {kind} [OPTIONS]" in new
    _, listed, _ = run("measure", "--help")
    names = [kind.replace("_", "-") for kind in commands.measure.KINDS]
    assert re.findall(r"^│ ([a-z][a-z-]*)  +\S", listed, flags=re.M) == names


def test_a_measurement_without_a_kind_is_of_terms(run: Run) -> None:
    refused(run("measure", "--model", "/nowhere/at all"), "/nowhere/at all")
    code, _, error = run("measure", "colours")
    assert code == 2
    assert "colours" in error


@pytest.mark.parametrize(
    ("folder", "app", "names", "shared"),
    [
        ("analysis/commands", commands.app, {*commands.COMMANDS} - {"measure"}, {"options", "into_store"}),
        ("analysis/commands/measure", commands.measure.app, {*commands.measure.KINDS}, {"announce", "plan"}),
    ],
)
def test_every_commands_file_is_registered_and_documented(
    folder: str, app: typer.Typer, names: set[str], shared: set[str]
) -> None:
    there = {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__", *shared}
    assert names == there
    listed = [entry for entry in app.registered_commands if not entry.hidden]
    registered = {entry.callback.__name__: entry for entry in listed if entry.callback}
    assert set(registered) == there
    for name, entry in registered.items():
        assert entry.callback is not None
        assert entry.callback.__doc__, f"the command {name} does not say what it does"


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    code, out, _ = run(commands.command_name(name), "--help")
    assert code == 0
    assert "Usage: " in out


# sync and query


def test_sync_builds_and_then_does_nothing(run: Run, data: Path) -> None:
    code, out, _ = run("sync")
    assert code == 0
    assert f"{data / 'store' / 'addend.duckdb'} built." in out
    assert re.search(rf"encodings\s+│\s+{len(ENCODINGS)}\b", out)
    code, out, _ = run("sync")
    assert (code, out) == (0, f"{data / 'store' / 'addend.duckdb'} is current.\n")
    code, out, _ = run("sync", "--rebuild")
    assert "built." in out


def test_sync_names_what_it_left_out(run: Run, data: Path) -> None:
    """Each time, not only when it builds. Its name holds what Rich would take for markup."""
    folder = data / "results" / "terms"
    folder.mkdir(parents=True)
    (folder / "[bold]a[red].parquet").write_text("no Parquet")
    for _ in range(2):
        code, out, _ = run("sync")
        assert code == 0
        assert (
            "Left out: results/terms/[bold]a[red].parquet: [bold]a[red].parquet is not a readable Parquet file" in out
        )
        assert "Restore or remove it." in out


def test_a_query_builds_the_store_and_prints_csv(run: Run, data: Path) -> None:
    code, out, _ = run("query", "SELECT encoding, title FROM encodings ORDER BY encoding", "--csv")
    assert code == 0
    found = pd.read_csv(io.StringIO(out))
    assert dict(found.to_numpy()) == {name: encoding.title for name, encoding in ENCODINGS.items()}


def test_a_query_prints_every_figure_of_a_number(run: Run, store: Path) -> None:
    sql = "SELECT share FROM term_stats WHERE isfinite(share) ORDER BY model, layer, head, term"
    _, out, _ = run("query", sql, "--csv")
    assert pd.read_csv(io.StringIO(out)).share.tolist() == read.query(sql).share.tolist()


def test_a_query_prints_a_table(run: Run, store: Path) -> None:
    code, out, _ = run("query", "SELECT 1 AS one, 'two' AS two")
    assert (code, out.split()) == (0, ["one", "two", "1", "two"])


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM nowhere", "Table with name nowhere does not exist"),
        ("SELECT nope FROM runs", 'Referenced column "nope" not found'),
        ("SELEC 1", "syntax error"),
        ("", "The query is empty; expected one SELECT"),
        ("SELECT '[/x]'::INTEGER", "'[/x]'"),
        ("INSERT INTO problems VALUES ('a', 'b')", "Queries may read the tables and views of the store, nothing else"),
        ("DELETE FROM published", "Queries may read the tables and views of the store, nothing else"),
        ("COPY runs TO '{folder}/out.csv'", "Queries may read the tables and views of the store, nothing else"),
        ("ATTACH '{folder}/other.db'", "Queries may read the tables and views of the store, nothing else"),
        ("SELECT * FROM read_csv('/etc/passwd')", "Queries may read the tables and views of the store, nothing else"),
        ("SET enable_external_access = true", "Cannot enable external access"),
    ],
)
def test_a_query_that_may_not_be_is_refused(run: Run, store: Path, tmp_path: Path, sql: str, expected: str) -> None:
    before = store.read_bytes()
    refused(run("query", sql.format(folder=tmp_path)), expected)
    assert store.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


# encode


def test_encode_prints_the_table_that_the_library_gives(run: Run) -> None:
    code, out, _ = run("encode", "sinusoidal", "--length", "7", "--dim", "10", "--csv")
    assert code == 0
    found = pd.read_csv(io.StringIO(out), index_col=0)
    assert found.shape == (7, 10)
    np.testing.assert_array_equal(found.to_numpy(), table_of("sinusoidal", length=7, dim=10))
    assert found.index.name == ENCODINGS["sinusoidal"].rows


def test_encode_without_csv_prints_a_summary(run: Run) -> None:
    code, out, _ = run("encode", "sinusoidal")
    assert code == 0
    assert "..." in out
    assert len(out.splitlines()) < 15


def test_encode_of_an_unknown_name_lists_the_known_ones(run: Run) -> None:
    refused(run("encode", "sinusoid"), "no encoding named 'sinusoid'", f"Known: {', '.join(ENCODINGS)}.")


def test_encode_of_an_impossible_size_is_said(run: Run) -> None:
    refused(run("encode", "sinusoidal", "--length", "0"), "length")


# probe


def test_probe_prints_json_whose_shares_sum_to_one(run: Run) -> None:
    code, out, _ = run("probe", "--text", "The keys are on the table.", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["model"] == "all-MiniLM-L6-v2"
    assert found["layer"] == 0
    assert [token.lower() for token in found["tokens"]][1:-1] == ["the", "keys", "are", "on", "the", "table", "."]
    assert set(found["terms"]) == set(TERMS) > set(FOUR)
    shares = np.array([found["terms"][term]["share"] for term in TERMS])
    assert shares.shape == (16, 12)
    np.testing.assert_allclose(shares.sum(0), 1, atol=1e-5)
    assert found["pattern_error"] < 1e-5
    assert found["probe"] is None
    assert {"revision", "device", "dtype", "seconds", "truncated_from", "max_error", "relative_error"} <= set(found)


@pytest.fixture
def llama(tmp_path: Path) -> str:
    """A folder of a tiny Llama, whose feed-forward is gated."""
    sizes: dict[str, Any] = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}
    sizes |= {"num_hidden_layers": 3, "intermediate_size": 24, "max_position_embeddings": 48, "attention_bias": True}
    tokenizer = sentencepiece_bpe()
    randomised(LlamaModel(LlamaConfig(vocab_size=len(tokenizer), **sizes))).save_pretrained(tmp_path / "llama")
    tokenizer.save_pretrained(tmp_path / "llama")
    return str(tmp_path / "llama")


def test_probe_of_any_layer_holds_what_it_is_told_to(run: Run, llama: str) -> None:
    def probe(*options: str) -> dict[str, Any]:
        code, out, _ = run("probe", "--model", llama, "--text", "the cat sat on the mat", "--json", *options)
        assert code == 0
        return json.loads(out)

    found = {freeze: probe("--layer", "2", "--freeze", freeze) for freeze in ("activation", "other", "half")}
    shares = []
    for freeze, made in found.items():
        assert (made["layer"], made["method"], made["freeze"]) == (2, "frozen", freeze)
        assert made["relative_error"] < 1e-5
        shares.append([made["terms"][term]["share"] for term in TERMS])
        np.testing.assert_allclose(np.sum(shares[-1], axis=0), 1, atol=1e-3)
    assert np.abs(np.subtract(shares[0], shares[1])).max() > 1e-3
    # At layer 0 no gated unit has been passed, so the choice is none.
    first, other = probe("--freeze", "activation"), probe("--freeze", "other")
    assert first["method"] == "exact"
    assert first["terms"] == other["terms"]
    _, out, _ = run("probe", "--model", llama, "--text", "the cat", "--layer", "1", "--freeze", "half")
    assert "layer 1 (frozen, half held in gated units)" in " ".join(out.split())


def test_measure_holds_what_it_is_told_to_and_its_command_says_so(run: Run, llama: str, data: Path) -> None:
    rows = pd.read_csv(ROOT / "data" / "probe_set" / "sentences.csv").head(3)
    (data / "probe_set").mkdir()
    rows.to_csv(data / "probe_set" / "sentences.csv", index=False)
    code, out, error = run("measure", "--model", llama, "--freeze", "half")
    assert code == 0, error
    _, out, _ = run("query", "SELECT command FROM runs WHERE kind = 'terms'", "--csv")
    assert "--corpus probe_set --freeze half" in out
    _, out, _ = run("query", "SELECT DISTINCT layer, method FROM term_stats ORDER BY layer", "--csv")
    assert out.split() == ["layer,method", "0,exact", "1,frozen", "2,frozen"]


def test_probe_says_what_can_be_held_and_which_layers_there_are(run: Run, llama: str) -> None:
    asked = ("probe", "--model", llama, "--text", "the cat")
    refused(run(*asked, "--freeze", "none"), "'none' cannot be held fixed; expected one of activation, other, half")
    refused(run(*asked, "--layer", "3"), "There is no layer 3: this model has layers 0 to 2.")


def test_probe_of_one_token_says_what_is_undefined(run: Run, llama: str) -> None:
    plain = json.loads((Path(llama) / "tokenizer.json").read_text()) | {"post_processor": None}
    (Path(llama) / "tokenizer.json").write_text(json.dumps(plain))
    code, out, _ = run("probe", "--model", llama, "--text", "the")
    assert code == 0
    terms = out.count("_to_")  # those of the sources that it has
    assert terms > 0
    assert out.count("undefined") == 2 * terms
    _, out, _ = run("probe", "--model", llama, "--text", "the", "--json")
    found = json.loads(out)
    assert found["tokens"] == ["the"]
    assert found["terms"]["word_to_word"] == {"share": [None] * 4, "effect": [None] * 4, "top1_agreement": [None] * 4}


def test_probe_of_nothing_or_of_an_unknown_model_is_said(run: Run) -> None:
    refused(run("probe", "--text", " "), "text")
    refused(run("probe", "--text", "a", "--model", "/nowhere/[/at all]"), "/nowhere/[/at all]")


def test_a_saved_probe_is_in_the_store_and_its_link_is_exported(run: Run, data: Path) -> None:
    code, out, _ = run("probe", "--text", "Dogs bite [/men].", "--save", "--json")
    assert code == 0
    probe = json.loads(out)["probe"]
    assert [path.stem for path in (data / "probes").glob("*.parquet")] == [probe]
    code, out, _ = run("query", "SELECT probe_id, text FROM saved_probes", "--csv")
    assert out == f"probe_id,text\n{probe},Dogs bite [/men].\n"
    target = data / "maps.csv"
    code, _, error = run("export", link("probe", {"probe": probe, "head": 2}), "-o", str(target))
    assert code == 0, error
    assert json.loads((data / "maps.csv.manifest.json").read_text())["provenance"]["text"] == "Dogs bite [/men]."


# export


@pytest.mark.parametrize("form", ["svg", "png", "pdf", "json", "csv"])
def test_a_link_is_exported_with_its_manifest_beside(run: Run, store: Path, tmp_path: Path, form: str) -> None:
    address = link("terms", {"measure": "effect"})
    target = tmp_path / f"heads.{form}"
    code, out, error = run("export", address, "-o", str(target))
    assert code == 0, error
    assert out == f"{target} and heads.{form}.manifest.json\n"
    about = json.loads((tmp_path / f"heads.{form}.manifest.json").read_text())
    assert about["link"] == address
    assert about["figure"] == "terms_heads"
    raw = target.read_bytes()
    if form == "svg":
        assert ET.fromstring(raw).tag.endswith("svg")
    elif form == "png":
        assert json.loads(Image.open(io.BytesIO(raw)).info["Addend"])["link"] == address
    elif form == "pdf":
        assert list(PdfReader(io.BytesIO(raw)).attachments) == ["manifest.json"]
    elif form == "json":
        assert json.loads(raw)["usermeta"]["addend"]["link"] == address
    else:
        frame = pd.read_csv(io.BytesIO(raw))
        own = "SELECT effect FROM term_stats WHERE model = ? AND layer = 0 ORDER BY head, term"
        expected = read.query(own, [VIEWS["terms"].defaults()["model"]]).effect
        np.testing.assert_allclose(frame.sort_values(["head", "term"]).effect, expected, rtol=1e-12)


def test_the_format_and_the_figure_can_be_said(run: Run, store: Path, tmp_path: Path) -> None:
    target = tmp_path / "figure.txt"
    code, _, error = run("export", link("terms"), "-o", str(target), "--format", "csv", "--figure", "terms_aggregates")
    assert code == 0, error
    assert json.loads(Path(f"{target}.manifest.json").read_text())["figure"] == "terms_aggregates"
    assert "aggregation" in target.read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["http://localhost:8501/termz", "-o", "a.svg"], "names the page 'termz'; expected one of: (root), read"),
        (["http://localhost:8501/terms?colour=red", "-o", "a.svg"], "has no field 'colour'; it has: "),
        (["http://localhost:8501/terms?head=x", "-o", "a.svg"], "says head='x'; expected a whole number"),
        (["http://localhost:8501/terms?measure=size", "-o", "a.svg"], "says measure='size'; expected one of: share"),
        (["http://localhost:8501/terms?model=none", "-o", "a.svg"], "no terms of the model 'none'"),
        (["http://[", "-o", "a.svg"], "is not a link; expected one that a page's Copy link gives"),
        (
            ["http://localhost:8501/terms", "-o", "a.gif"],
            "The format 'gif' is not one of svg, png",
        ),
        (["http://localhost:8501/terms", "-o", "a"], "The format '' is not one of svg"),
        (["http://localhost:8501/terms", "-o", "a.svg", "--format", "gif"], "give for example --format svg"),
        (
            ["http://localhost:8501/claims?claim=C99", "-o", "a.svg", "--figure", "claim_strips"],
            "There is no claim 'C99'. Known: C01, C02",
        ),
        (["http://localhost:8501/about", "-o", "a.svg"], "has no figure None; it has: none"),
        (["http://localhost:8501/terms", "-o", "a.svg", "--figure", "x"], "has no figure 'x'; it has: terms_heads"),
        (["http://localhost:8501/terms?probe=gone", "-o", "a.svg", "--figure", "probe_maps"], "no saved probe 'gone'"),
        (["http://localhost:8501/terms?probe=", "-o", "a.svg", "--figure", "probe_maps"], "names no saved probe"),
        (["http://localhost:8501/terms", "-o", "no/such/folder/a.csv"], "could not be written (No such file or direc"),
    ],
)
def test_what_cannot_be_exported_is_said(
    run: Run,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run("export", *arguments), expected)
    assert list(tmp_path.iterdir()) == []


# Images


def test_an_image_is_probed(run: Run, tmp_path: Path) -> None:
    code, out, error = run("probe-image", "--image", "checkerboard", "--layer", "2")
    assert code == 0, error
    found = json.loads(out)
    assert (found["layer"], found["grid"], found["tokens"]) == (2, [8, 8], 65)
    assert sum(term["share"][0] for term in found["terms"].values()) == pytest.approx(1, abs=1e-5)
    file = tmp_path / "mine.png"
    Image.new("RGB", (30, 20), "red").save(file)
    assert run("probe-image", "--image", str(file))[0] == 0
    file.write_text("no image")
    code, _, error = run("probe-image", "--image", str(file))
    assert code == 1
    assert "mine.png is no image that can be read" in " ".join(error.split())


def test_a_models_images_are_measured_into_two_files(run: Run, data: Path, tmp_path: Path) -> None:
    """Over the drawn images, at every layer; positions are the table's own where the sizes agree."""
    from transformers import ViTConfig, ViTModel
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "intermediate_size": 16,
    }
    model = ViTModel(ViTConfig(**sizes, image_size=24, patch_size=8))
    model.save_pretrained(tmp_path / "model")
    ViTImageProcessorPil(size={"height": 24, "width": 24}).save_pretrained(tmp_path / "model")
    code, _, error = run("measure-images", "--model", str(tmp_path / "model"), "--called", "mine")
    assert code == 0, error
    terms = read.query("SELECT DISTINCT model, corpus, layer, texts, command FROM newest_terms ORDER BY layer")
    assert terms.layer.tolist() == [0, 1]
    assert set(terms.model) == {"mine"}
    assert set(terms.texts) == {6}
    assert set(terms.command) == {"python -m analysis measure images --model FOLDER --called mine"}
    cosines = np.stack(read.query("SELECT similarity FROM newest_patch_positions ORDER BY patch").similarity.to_list())
    table = model.embeddings.position_embeddings[0, 1:].detach().double().numpy()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    np.testing.assert_allclose(cosines, unit @ unit.T, atol=1e-6)


def test_a_model_of_text_is_not_measured_over_images(run: Run, data: Path) -> None:
    code, _, error = run("measure-images", "--model", "all-MiniLM-L6-v2")
    assert code == 1
    assert "reads text, not images" in " ".join(error.split())


# import


def test_import_shows_adds_and_adds_nothing_twice(run: Run, data: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("variant,task,metric,seed,learning_rate,value\nmine,rte,accuracy,0,1e-4,0.6\n")
    code, out, _ = run("import", str(table), "--dry-run")
    assert code == 0
    assert "Would add 1 rows of 1 runs. Nothing was written." in out
    assert not (data / "imported").exists()
    code, out, _ = run("import", str(table))
    assert code == 0
    assert "1 rows of 1 runs added" in out
    code, out, _ = run("query", "SELECT variant, value FROM own_scores", "--csv")
    assert out == "variant,value\nmine,0.6\n"
    code, out, _ = run("import", str(table))
    assert "1 rows are stored already.\nThere is nothing to add." in out


def test_import_lists_bad_rows_by_file_and_line(run: Run, data: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("variant,task,metric,seed,learning_rate,value\nmine,rte,accuracy,0,1e-4,60\n")
    code, _, error = run("import", str(table))
    assert code == 1
    assert "mine.csv, line 2: value is 60; expected a fraction" in error
    assert not (data / "imported").exists()
