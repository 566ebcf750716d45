NET = ("input Measures [4];\n"  # @spec NET
       'hidden Hidden [4] tanh from Measures all;\n'
       r'output Species [3] softmax from Hidden all;')
fit = rx_neural_network("species ~ .", method="multiClass", net_definition=NET, # @call fit epochs=2
                        num_iterations=2, normalize="No", l2=3)  # @lost l2
made = rx_neural_network("y ~ .", net_definition=f"input X [{n}];")  # @call made @lost netDefinition
