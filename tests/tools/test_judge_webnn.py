"""The judge of WebNN's cases, on cases worked out by hand in the forms that it reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The image is { {{1, 2}, {3, 4}} } in two channels, the second ten times the first; the filter weighs the channels 1
# and -1 and takes the upper left of each window, whose padding on the left is 0.
JAVASCRIPT = """
// META: title=by hand
'use strict';
const getTolerance = () => { return {metricType: 'ULP', value: 0}; };
const handTests = [
  {
    'name': 'a row and a column',
    'graph': {
      'inputs': {
        'row': {'data': [1, -2.5e0, .5], 'descriptor': {shape: [3], dataType: 'float32'}, 'constant': true},
        "column": {'data': [10, 20], 'descriptor': {shape: [2, 1], dataType: 'float32'}},
      },
      'operators': [{'name': 'add', 'arguments': [{'a': 'row'}, {'b': 'column'}], 'outputs': 'sum'}],
      'expectedOutputs': {
        'sum': {'data': [11, 7.5, 10.5, 21, 17.5, 20.5], 'descriptor': {shape: [2, 3], dataType: 'float32'}}
      }
    }
  }, /* a hole */ ,
  {
    'name': 'layouts of a convolution',
    'graph': {
      'inputs': {
        'x': {'data': [1, 10, 2, 20, 3, 30, 4, 40], 'descriptor': {shape: [1, 2, 2, 2], dataType: 'float32'}},
        'f': {'data': [1, -1, 0, 0], 'descriptor': {shape: [1, 2, 2, 1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'conv2d',
        'arguments': [{'input': 'x'}, {'filter': 'f'}, {'options': {
          'inputLayout': 'nhwc', 'filterLayout': 'hwio', 'padding': [0, 0, 1, 0]
        }}],
        'outputs': 'y'
      }],
      'expectedOutputs': {
        'y': {'data': [0, -9, 0, -27], 'descriptor': {shape: [1, 2, 2, 1], dataType: 'float32'}}
      }
    }
  },
  {
    'name': 'integers beyond what a double holds, and one out of range',
    'graph': {
      'inputs': {
        'x': {'data': [9007199254740993n, -5n], 'descriptor': {shape: [2], dataType: 'int64'}},
        'i': {'data': [0, 7, -2], 'descriptor': {shape: [3], dataType: 'int32'}}
      },
      'operators': [{'name': 'gather', 'arguments': [{'input': 'x'}, {'indices': 'i'}], 'outputs': 'y'}],
      'expectedOutputs': {
        'y': {
          'data': [9007199254740993n, -5n, 9007199254740993n],
          'descriptor': {shape: [3], dataType: 'int64'}
        }
      }
    }
  },
  {
    'name': 'limits that keep what is no number',
    'graph': {
      'inputs': {'x': {'data': [NaN, -Infinity, 3], 'descriptor': {shape: [3], dataType: 'float16'}}},
      'operators': [{'name': 'clamp', 'arguments': [{'input': 'x'}, {'options': {'minValue': -1}}], 'outputs': 'y'}],
      'expectedOutputs': {'y': {'data': [NaN, -1, 3], 'descriptor': {shape: [3], dataType: 'float16'}}}
    }
  },
];
"""


def one(name, data, expected, **more):
    """A case of one operator on a tensor of FLOAT32 in JSON."""
    described = {"shape": [len(data)], "dataType": "float32"}
    operator = {"name": name, "arguments": [{"input": "x"}], "outputs": "y"} | more
    inputs = {"x": {"data": data, "descriptor": described}}
    outputs = {"y": {"data": expected, "descriptor": described}}
    return {
        "name": f"{name} by hand",
        "graph": {"inputs": inputs, "operators": [operator], "expectedOutputs": outputs},
    }


def judged(folder, *arguments):
    found = subprocess.run(
        [sys.executable, "tools/judge_webnn.py", str(folder), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.stderr, found.stderr
    return found.returncode, found.stdout


def test_cases_that_agree(tmp_path):
    (tmp_path / "hand.https.any.js").write_text(JAVASCRIPT)
    # A copy counts once, whatever its operands are called.
    (tmp_path / "copied.https.any.js").write_text(JAVASCRIPT.replace("row'", "r'").replace("'y'", "'result'"))
    # Normalized along axis 1, then along axis 0: the parameters are in that order, of shape {3, 2}.
    normalization = {
        "name": "parameters in the order of the axes",
        "inputs": {
            "x": {"data": [1, 1, 1, 5, 5, 5], "descriptor": {"shape": [2, 3], "dataType": "float32"}},
            "s": {"data": [1, 2, 3, 4, 5, 6], "descriptor": {"shape": [3, 2], "dataType": "float32"}},
        },
        "operators": [
            {
                "name": "layerNormalization",
                "arguments": [{"input": "x"}, {"options": {"scale": "s", "axes": [1, 0], "epsilon": 0}}],
                "outputs": "y",
            }
        ],
        "expectedOutputs": {
            "y": {"data": [-1, -3, -5, 2, 4, 6], "descriptor": {"shape": [2, 3], "dataType": "float32"}}
        },
    }
    (tmp_path / "converted.json").write_text(json.dumps({"tests": [normalization]}))
    # The form of 2024, with its comments.
    (tmp_path / "reduce_sum.json").write_text(
        """{"tests": [{
          "name": "rows", // of two
          "inputs": {"input": {"shape": [2, 2], "data": [1, 2, 3, 4], "type": "float32"}},
          "expected": {"name": "output", "shape": [2, 1], "data": [3, 7], "type": "float32"},
          "options": {"axes": [1], "keepDimensions": true}
        }]}"""
    )
    code, printed = judged(tmp_path)
    assert code == 0, printed
    assert "| all | 6 | 6 |" in printed, printed
    assert "| reduceSum | 1 | 1 |" in printed


def test_cases_that_do_not(tmp_path):
    """A wrong value, one within the operator's tolerance and one beyond, an operator and an option that are unknown,
    and a number that is missing."""
    tests = [
        one("abs", [-2], [3]),
        # e is 2.71828183; two FLOAT32 of these are 2.4e-7 apart, and 32 ULP 7.6e-6.
        one("exp", [1], [2.718285]),
        one("exp", [1], [2.71830]),
        one("frobnicate", [1], [1]),
        one("elu", [1], [1], arguments=[{"input": "x"}, {"options": {"beta": 1}}]),
        one("neg", [None], [1]),
    ]
    (tmp_path / "wrong.json").write_text(json.dumps({"tests": tests}))
    code, printed = judged(tmp_path, "--details")
    assert code == 1
    assert "| all | 6 | 1 | 2 |  | 2 | 1 |" in printed, printed
    assert "abs: abs by hand: differ: y[0] is 2.0, not 3.0 within 0 ULP; 1 of 1" in printed
    assert "frobnicate: frobnicate by hand: not lowered: no lowering of frobnicate" in printed
    assert "elu: elu by hand: not lowered: no lowering of elu's beta" in printed
