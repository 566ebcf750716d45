-- It's a batch of our own making; N'rxNeuralNet' is no string here.
EXEC sp_execute_external_script @language = N'Python', @script = N'
from microsoftml import rx_neural_network, sgd_optimizer
# It''s Python.
net = """// @spec net
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
"""
model = rx_neural_network("species ~ .", data=InputDataSet, method="multiClass", # @call model nesterov=True @lost data
    optimizer=sgd_optimizer(learning_rate=0.05, momentum=0.5, nag=True), net_definition=net, num_iterations=2)
',
    @input_data_1 = N'SELECT * FROM dbo.iris';
GO
