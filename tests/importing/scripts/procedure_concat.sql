CREATE OR ALTER PROCEDURE [dbo].[train 'em] @more nvarchar(10) = N'it''s'
AS
BEGIN
    SET NOCOUNT ON; /* not this: /* N'rxNeuralNet(y ~ .)' */ it's nested */
DECLARE @table sysname = N'iris';
DECLARE @c nvarchar(max) = CONCAT(N'
rows <- RxSqlServerData(table = "', @table, N'", connectionString = cs)
net <- "// @spec net
    input Measures [4];
    hidden Hidden [7] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
"
fit <- rxNeuralNet(species ~ ., data = rows, type = "multiClass", netDefinition = net, # @call fit task=multiclass @lost data
    numIterations = 2, rowSelection = sepal_width > 3) # @lost rowSelection
');
EXEC sp_execute_external_script @language = N'R', @script = @c;
END
GO
