"""The calls that train, and their arguments by place; their meanings are in the engine's table.

Sources: the reference of MicrosoftML and microsoftml.
"""

from __future__ import annotations

#: Calls that train a network, and those of which one may be a part.
TRAINERS = ("rxNeuralNet", "mxNeuralNet", "rx_neural_network", "neuralNet", "NeuralNetwork")
ENSEMBLES = ("rxEnsemble", "rx_ensemble")
#: The arguments of a learner, and those of transforms, by place.
_OWN_PLACES = (
    *("numHiddenNodes", "numIterations", "optimizer", "netDefinition", "initWtsDiameter"),
    *("maxNorm", "acceleration", "miniBatchSize", "normalize"),
)
_TRANSFORMS = (
    *("mlTransforms", "mlTransformVars", "rowSelection", "transforms", "transformObjects"),
    *("transformFunc", "transformVars", "transformPackages", "transformEnvir", "blocksPerRead"),
    *("reportProgress", "verbose"),
)
#: The arguments of each call, by place.
PLACES = {
    **dict.fromkeys(("neuralNet", "NeuralNetwork"), _OWN_PLACES),
    "rx_neural_network": (
        *("formula", "data", "type", *_OWN_PLACES, *_TRANSFORMS),
        *("ensemble", "computeContext"),
    ),
    "rxEnsemble": (
        *("formula", "data", "trainers", "type", "randomSeed", "modelCount", "replace"),
        *("sampRate", "splitData", "combineMethod", "maxCalibration", *_TRANSFORMS),
        "computeContext",
    ),
    "rx_ensemble": (
        *("formula", "data", "trainers", "type", "model_count", "random_seed", "replace"),
        *("samp_rate", "combine_method", "max_calibration", "split_data", *_TRANSFORMS),
        "computeContext",
    ),
}
USUAL_PLACES = (
    *("formula", "data", "type", *_OWN_PLACES, *_TRANSFORMS),
    *("computeContext", "ensemble"),
)
