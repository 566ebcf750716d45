"""Net# networks as scikit-learn estimators; needs the extra `netsharp[sklearn]`."""

from netsharp_lsp.estimators.classifier import NetSharpClassifier
from netsharp_lsp.estimators.regressor import NetSharpRegressor

__all__ = ["NetSharpClassifier", "NetSharpRegressor"]
