"""The networks of SimpleNetworkBuilder, described by a few options."""
