"""How people hand specifications to the neural networks of microsoftml."""

import textwrap

from microsoftml import NeuralNetworkMulticlass, rx_neural_network

NET = """
input Data [4];
hidden H [10] sigmoid from Data all;
output Out [3] softmax from H all;
"""

model = rx_neural_network(
    "Species ~ Sepal_Length + Sepal_Width + Petal_Length + Petal_Width",
    data=iris,
    method="multiClass",
    num_hidden_nodes=20,
    net_definition=NET,
    acceleration="avx",
)


class Trainer:
    net = '''
        const N = 12;
        input Data[N]   ;
          hidden H [5] tanh from   Data all;
        hidden H [6] tanh from Data all; // !NS036
        output Out [3] softmax from H all;
    '''

    def fit(self, data):
        definition = textwrap.dedent(
            """\
            input Data auto;
            hidden H auto sigmoid from Data all;
            output Result auto sigmoid   from H all;
            """
        )
        return rx_neural_network(
            "y ~ a + b", data=data, method="binary", num_hidden_nodes=7, net_definition=definition
        )


def regress(data):
    return NeuralNetworkMulticlass(
        net_definition="""input Pixels [29, 29]; // an image
hidden Conv [5, 13, 13] rlinear from Pixels convolve {
    InputShape=[29, 29]; KernelShape = [5, 5]; Stride = [2, 2]; MapCount = 5;
}
output Digit [10] softmax from Cnv all; // !NS035
"""
    )


# language=Net#
BROKEN = """
input A [3] // !NS011
hidden H [2] sigmoid from A all;
output B [1] sigmoid from H all;
"""
