-- The three networks of the reference of MicrosoftML, as stored procedures train them on the rows of
-- queries. Rows of a database are exported first, and named in --train:
-- netsharp run published.sql::cases --train infert.csv --rx-log
CREATE PROCEDURE dbo.train_cases AS
EXEC sp_execute_external_script
    @language = N'R',
    @script = N'
library(MicrosoftML)
cases <- rxNeuralNet(
  isCase ~ age + parity + education + spontaneous + induced,
  data = InputDataSet
)
OutputDataSet <- data.frame(model = rxSerializeModel(cases))',
    @input_data_1 = N'SELECT isCase, age, parity, education, spontaneous, induced FROM dbo.women'
WITH RESULT SETS ((model varbinary(max)));
GO

CREATE PROCEDURE dbo.train_flowers AS
EXEC sp_execute_external_script
    @language = N'R',
    @script = N'
library(MicrosoftML)
flowers <- rxNeuralNet(
  species ~ sepal_length + sepal_width + petal_length + petal_width,
  data = InputDataSet,
  type = "multiClass"
)
OutputDataSet <- data.frame(model = rxSerializeModel(flowers))',
    @input_data_1 = N'SELECT species, sepal_length, sepal_width, petal_length, petal_width FROM dbo.flowers'
WITH RESULT SETS ((model varbinary(max)));
GO

CREATE PROCEDURE dbo.train_ratings AS
EXEC sp_execute_external_script
    @language = N'Python',
    @script = N'
from microsoftml import rx_neural_network
ratings = rx_neural_network(
    "rating ~ complaints + privileges + learning + raises + critical + advance",
    data=InputDataSet,
    method="regression",
)',
    @input_data_1 = N'SELECT rating, complaints, privileges, learning, raises, critical, advance FROM dbo.attitude';
GO
