-- A procedure that trains in the database; it's of our own making.
CREATE OR ALTER PROCEDURE [dbo].[train 'em]
    @table sysname, @model varbinary(max) OUTPUT
AS
BEGIN
    /* Not this: /* N'netDefinition <- "input X [3];"' */ it's still a comment */
    DECLARE @script nvarchar(max) = N'
library(MicrosoftML)
# It''s read from a table.
netDefinition <- ("
    input Data auto;
    hidden H [10]   sigmoid from Data all;
    output Out [2] softmax from Hidden all; // !NS035
")
fit <- rxNeuralNet(label ~ ., data = InputDataSet, type = ''multiClass'',
                   numIterations = 50, netDefinition = netDefinition)
model <- rxSerializeModel(fit)';
    DECLARE @query nvarchar(max) = CONCAT(N'SELECT * FROM ', QUOTENAME(@table), N' WHERE x = ''a''');
    EXEC sp_execute_external_script
        @language = N'R',
        @script = @script,
        @input_data_1 = @query,
        @params = N'@model varbinary(max) OUTPUT',
        @model = @model OUTPUT
    WITH RESULT SETS NONE;
END
GO

CREATE PROCEDURE dbo.train_python AS
EXECUTE sys.sp_execute_external_script @language = N'Python', @script = N'
from microsoftml import rx_neural_network, sgd_optimizer

net = """
input Data [4];
hidden H [10]   tanh from Data all;
output Out [1] sigmoid from H all;
"""
model = rx_neural_network("isCase ~ age", data=InputDataSet, method="binary",
    optimizer=sgd_optimizer(learning_rate=0.1), net_definition=net)
other = rx_neural_network("y ~ x", net_definition=''input X [3];\n  output Y [1] from Q all;'') # !NS035
';
GO
