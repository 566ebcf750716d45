"""The meaning of a specification: values, layers, bundles, geometry, edges; reports no findings."""
