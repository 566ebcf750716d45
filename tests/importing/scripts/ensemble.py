models = rx_ensemble("species ~ .", pd.read_csv("iris.csv"), method="multiClass",
    trainers=[
        NeuralNetwork(num_hidden_nodes=4, num_iterations=2),  # @call models hidden_nodes=4 train=iris.csv @lost rx_ensemble
        FastTrees(),
        NeuralNetwork(num_iterations=2, max_norm=3)],  # @call models_2 max_norm=3 @lost rx_ensemble
    combine_method="Median")  # @lost combine_method
