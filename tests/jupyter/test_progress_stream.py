"""The line of a long question in a notebook's page: one output that changes in place, and is empty behind."""

from __future__ import annotations

import nbformat
from nbclient import NotebookClient

CELL = """
import mlnlab as ml
from mlnlab.jupyter.progress_stream import PageStream
PageStream.patience = PageStream.seconds_between = 0.0
import mlnlab.steps.runs.run_line as run_line
run_line.RunLine.__init__.__kwdefaults__["patience"] = 0.0
seen, write = [], PageStream.write
def writing(self, text):
    seen.append(text.strip())
    return write(self, text)
PageStream.write = writing
mln = ml.MLN.from_text("P(e)\\n1 P(x) ^ P(y)")
found = ml.infer(mln, {"e": 4}, method="gibbs", samples=4_000)
print(len(seen) > 10, any("s left" in text for text in seen), seen[-1] == "")
"""


def test_a_kernel_shows_one_line_and_leaves_it_empty(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = notebook.cells[0].outputs
    assert [output.output_type for output in outputs if output.output_type == "display_data"] == [
        "display_data"
    ]
    assert next(o for o in outputs if o.output_type == "display_data").data["text/plain"] == ""
    assert not [o for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert "True True True" in "".join(o.text for o in outputs if o.output_type == "stream")
