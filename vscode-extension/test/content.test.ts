/** Which texts are taken for Net#; the corpus is tried from Python. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { cannotBeNetSharp, cntkLanguageOf, looksLikeNetSharp, mayHoldNetSharp } from "../src/content";

test("specifications are recognised", () => {
  assert.ok(looksLikeNetSharp("input Data auto;\nhidden H [5] from Data all;"));
  assert.ok(looksLikeNetSharp("// a net\nhidden { H [5] from D all;\n}"));
  assert.ok(looksLikeNetSharp("const W = [ floats_from_bytes( 3f800000 ) ];"));
});

test("other owners of the suffix are left alone", () => {
  for (const text of [
    "",
    "some notes: the input of all this comes from Peter",
    "network NeuralNet { layer { input 3 } }",
    "import torch.nn as nn\nclass Net(nn.Module): pass",
    '{"input": [1, 2], "hidden": 3}',
    ".TH NN 1\n.SH NAME\nnn - news reader",
  ]) {
    assert.ok(!looksLikeNetSharp(text), text);
    assert.equal(cannotBeNetSharp(text), text !== "", text);
  }
});

test("what is begun, and what is broken, stays Net#", () => {
  for (const text of ["// A net.\n", "/* a\nb */", "input Image", "const {", "share { A, B }", "x; output R [2]"]) {
    assert.ok(!cannotBeNetSharp(text), text);
  }
});

test("hosts start the server only where there may be a specification", () => {
  assert.ok(mayHoldNetSharp("model = rx_neural_network(f, net_definition=spec)"));
  assert.ok(mayHoldNetSharp('rxNeuralNet(f, netDefinition = "x")'));
  assert.ok(mayHoldNetSharp("text\n```netsharp\n```"));
  assert.ok(mayHoldNetSharp("# language=Net#\nx = ''"));
  assert.ok(!mayHoldNetSharp("import os\nprint('hidden', input())"));
});

test("files that share a suffix with CNTK's are told apart by what they say", () => {
  assert.equal(cntkLanguageOf("a.config", "command = Train\nTrain = [ action = train ]"), "cntk");
  assert.equal(cntkLanguageOf("app.config", "<configuration><command/></configuration>"), undefined);
  assert.equal(cntkLanguageOf("x.config", "HOST=1\nPORT=2"), undefined);
  assert.equal(cntkLanguageOf("net.bs", "features = Input {2}\nL (x) = Tanh (x)"), "brainscript");
  assert.equal(cntkLanguageOf("main.bs", "sub Main()\n  x = 1\nend sub"), undefined);
  assert.equal(cntkLanguageOf("e.mel", 'm = LoadModel("x.dnn")'), "mel");
  assert.equal(cntkLanguageOf("rig.mel", "global proc rig() { polyCube; }"), undefined);
});
