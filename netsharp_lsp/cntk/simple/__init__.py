"""The networks of SimpleNetworkBuilder, which a few options describe."""
