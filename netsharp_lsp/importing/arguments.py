"""The calls that train, and their first arguments by place; the engine has all arguments."""

from __future__ import annotations

#: Calls that train a network, and those of which one may be a part.
TRAINERS = ("rxNeuralNet", "mxNeuralNet", "rx_neural_network", "neuralNet", "NeuralNetwork")
ENSEMBLES = ("rxEnsemble", "rx_ensemble")
#: The first arguments of each call, by place.
_OWN_PLACES = ("numHiddenNodes", "numIterations", "optimizer", "netDefinition")
PLACES = {
    **dict.fromkeys(("neuralNet", "NeuralNetwork"), _OWN_PLACES),
    **dict.fromkeys(ENSEMBLES, ("formula", "data")),
}
USUAL_PLACES = ("formula", "data", "type", *_OWN_PLACES)
