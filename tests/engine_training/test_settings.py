"""Settings: host tables, origins, limits, and sentences for what is wrong."""

from __future__ import annotations

import json

import pytest

from netsharp_engine.train import KEYS, TrainingSettings, read_settings, restore_settings
from netsharp_engine.train.settings.keys import BY_NAME


def settings(run_file=None, **flags):
    found = read_settings(run_file or {}, flags)
    assert isinstance(found, TrainingSettings), found
    return found


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"learning_rate": 0.005, "normalizer": "robust", "batch_size": 64, "epochs": 100}),
        ({"task": "regression"}, {"learning_rate": 0.005, "scale_label": True, "init": "glorot"}),
        (
            {"host": "studio"},
            {"learning_rate": 0.1, "normalizer": "minmax", "batch_size": 1, "epochs": 100}
            | {"init": "uniform", "init_diameter": 0.1, "optimizer": "sgd"},
        ),
        (
            {"host": "studio", "task": "regression"},
            {"learning_rate": 0.005, "normalizer": "minmax", "scale_label": False},
        ),
        ({"host": "rx"}, {"learning_rate": 0.001, "normalizer": "minmax-zero", "max_norm": 0}),
        ({"host": "rx", "optimizer": "adadelta"}, {"adadelta_decay": 0.95, "momentum": 0}),
        ({"host": "tlc"}, {"init_diameter": 0.1, "hidden_nodes": 100, "shuffle": True}),
        ({"optimizer": "adam"}, {"learning_rate": 0.005, "adam_beta2": 0.999}),
        ({"optimizer": "adam", "host": "studio"}, {"learning_rate": 0.001, "batch_size": 1}),
    ],
)
def test_defaults_of_the_hosts(given, expected):
    found = settings(**given)
    assert {name: getattr(found, name) for name in expected} == expected


def test_every_value_knows_its_origin():
    run_file = {"data": {"train": "d.csv"}, "train": {"epochs": 7, "momentum": 0.5}}
    found = read_settings(run_file, {"epochs": "9", "batch-size": None}, directory="here")
    origins = {name: (shown, origin) for _, name, shown, origin in found.listing()}
    assert origins["epochs"] == ("9", "flag")
    assert origins["momentum"] == ("0.5", "file")
    assert origins["learning_rate"] == ("0.1", "default")
    assert origins["optimizer"] == ('"sgd"', "default")
    assert origins["seed"] == ("0", "default")
    assert origins["train"] == ('["here/d.csv"]', "file")
    assert len(origins) == len(KEYS)


def test_paths_of_the_file_are_relative_to_it_and_those_of_flags_are_not():
    run_file = {"data": {"train": ["a.csv", "/b.csv"], "test": "t.csv"}, "output": {"model": "m"}}
    found = read_settings(run_file, {"test": "t.csv"}, directory="runs")
    assert found.train == ("runs/a.csv", "/b.csv")
    assert found.test == ("t.csv",)
    assert found.model == "runs/m"
    validation = {"train": {"validation": "v.csv"}}
    assert read_settings(validation, {}, directory="runs").validation_path == "runs/v.csv"
    assert read_settings({}, {"validation": "v.csv"}, directory="runs").validation_path == "v.csv"


def test_flags_are_text_and_files_are_typed():
    by_file = settings({"train": {"validation": 0.25, "nesterov": True, "momentum": 0.9}})
    by_flag = settings(validation="0.25", nesterov="true", momentum="0.9")
    for name in ("validation", "nesterov", "momentum"):
        assert getattr(by_file, name) == getattr(by_flag, name)
    assert settings(categorical="a, b").categorical == ("a", "b")
    assert settings(class_weights="yes=2,no=0.5").class_weights == {"yes": 2.0, "no": 0.5}
    assert settings(dropout="0.5").dropout == settings({"train": {"dropout": 0.5}}).dropout == 0.5
    by_layer = settings({"train": {"dropout": {"H": 0.5, "I": 0.1, "J": 0}}}).dropout
    assert by_layer == settings(dropout="H=0.5, I=0.1").dropout == {"H": 0.5, "I": 0.1}
    assert settings(dropout="0", host="rx").dropout is None
    assert settings(dropout=0.5, host="tlc").dropout == 0.5
    assert settings(loss="LogLoss").loss == "cross-entropy"
    assert settings(normalizer="auto").normalizer == "minmax-zero"


WRONG = [
    (
        {"train": {"learning_rat": 1}},
        {},
        "[train]: unknown key 'learning_rat'. Did you mean 'learn",
    ),
    ({"train": {"label": "x"}}, {}, "[train]: 'label' belongs to [data]. Move it."),
    ({"training": {}}, {}, "there is no section [training]. Did you mean 'train'?"),
    ({"train": 3}, {}, "'train' must be a section: [train]."),
    ({}, {"epoch": "3"}, "There is no setting 'epoch'. Did you mean 'epochs'"),
    ({"train": {"epochs": 0}}, {}, "[train] epochs: 0 is out of range: it must be at least 1."),
    ({"train": {"epochs": 1.5}}, {}, "[train] epochs: a whole number is needed, found 1.5."),
    ({"train": {"epochs": True}}, {}, "[train] epochs: a whole number is needed, found true."),
    ({}, {"epochs": "many"}, "--epochs: a whole number is needed, found 'many'."),
    ({}, {"learning-rate": "-1"}, "--learning-rate: '-1' is out of range: it must be above 0."),
    ({}, {"learning_rate": "nan"}, "--learning-rate: a number is needed, found 'nan'."),
    ({}, {"momentum": "1.5"}, "it must be at least 0 and at most 1."),
    ({}, {"host": "azure"}, "--host: 'azure' is none of studio, rx, tlc."),
    ({}, {"validation": "1"}, "'1' is out of range: a fraction is at least 0 and below 1."),
    ({"train": {"patience": 3}}, {}, "patience needs validation rows to watch."),
    ({"train": {"nesterov": True}}, {}, "nesterov needs a momentum above 0"),
    ({"train": {"optimizer": "adam", "momentum": 0.9}}, {}, 'not to "adam"'),
    (
        {"train": {"optimizer": "adadelta", "learning_rate": 0.1}},
        {},
        "has no effect with optimizer",
    ),
    (
        {"train": {"task": "regression", "class_weights": "balanced"}},
        {},
        "class_weights need class",
    ),
    ({"train": {"dropout": 1}}, {}, "[train] dropout: 1 is out of range: a share is at least 0"),
    ({}, {"dropout": "H=many"}, "the share of layer 'H' must be a number, found 'many'."),
    ({}, {"dropout": "often"}, "a share of nodes such as 0.5, or shares by layer, are needed"),
    ({}, {"clip_norm": 1, "clip_value": 1}, "clip_norm and clip_value both cut the gradient."),
    ({}, {"host": "rx", "dropout": 0.5}, 'dropout: host "rx" has no such setting. Leave it out'),
    ({}, {"host": "tlc", "clip_norm": 2}, 'clip_norm: host "tlc" has no such setting.'),
    ({}, {"host": "studio", "schedule": "cosine"}, 'schedule: host "studio" has no such setting.'),
    ({}, {"schedule_factor": 0.5}, 'schedule_factor has no effect with schedule = "constant".'),
    ({"train": {"schedule": "cosine", "schedule_factor": 0.5}}, {}, 'with schedule = "cosine".'),
    ({}, {"schedule": "step", "optimizer": "adadelta"}, "which has no learning rate."),
    ({}, {"schedule": "step", "rate_reduction_ratio": 0.5}, "both lower the rate."),
    ({}, {"schedule": "step", "schedule_least": 0.5}, "schedule_least is more than learning_rate"),
    ({"train": {"class_weights": {"a": -1}}}, {}, "the weight of class 'a' must be a number of"),
    ({"data": {"categorical": 1.5}}, {}, "a list of columns is needed, found 1.5."),
    ({"data": {"label": 0}}, {}, "columns are numbered from 1, found 0."),
    ({"data": {"train": 5}}, {}, "a file name or a list of them is needed, found 5."),
]


@pytest.mark.parametrize(("run_file", "flags", "reported"), WRONG)
def test_wrong_settings_are_sentences(run_file, flags, reported):
    found = read_settings(run_file, flags)
    assert isinstance(found, list)
    assert any(reported in sentence for sentence in found), found
    assert len(found) == 1, found


def test_all_faults_are_reported_at_once():
    found = read_settings({"train": {"epochs": 0, "seed": -1, "x": 1}}, {"dtype": "float16"})
    assert len(found) == 4


def test_settings_survive_json():
    run_file = {
        "data": {"train": "a.csv", "categorical": ["c", 3]},
        "train": {"optimizer": "adadelta", "validation": 0.1, "class_weights": {"a": 2}},
    }
    found = read_settings(run_file, {"epochs": 3})
    again = restore_settings(json.loads(json.dumps(found.to_json())))
    assert again == found


def test_every_key_of_the_contract_is_there():
    contract = {
        "data": "train test label labels weight header delimiter categorical missing",
        "train": "task host optimizer learning_rate momentum nesterov weight_decay max_norm epochs "
        "batch_size seed shuffle normalizer loss init_diameter validation patience threads dtype",
        "output": "model log plot",
    }
    for section, names in contract.items():
        for name in names.split():
            assert BY_NAME[name].section == section


def test_values_beyond_a_host_are_notes():
    assert settings(optimizer="sgd", learning_rate=9).notes() == []
    assert settings(host="studio", learning_rate=1).notes() == []
    assert settings(host="rx", learning_rate=3).notes() == []
    (note,) = settings(host="studio", task="regression", learning_rate=0.05).notes()
    assert note == 'learning_rate = 0.05 is more than 0.01, the most that host "studio" takes.'
    assert len(settings(host="rx", batch_size=512).notes()) == 1


def test_a_rate_of_the_rule_that_was_the_default_is_a_note():
    (note,) = settings(learning_rate=0.1).notes()
    assert note == (
        'learning_rate = 0.1 is large for optimizer = "adam", the default. '
        'Set optimizer = "sgd" if steps along the gradient are meant.'
    )
    for chosen in ({"learning_rate": 0.02}, {"momentum": 0.5}, {"optimizer": "adam"}):
        assert settings(**{"learning_rate": 0.1, **chosen}).notes() == []
