"""What a specification describes: values, layers, bundles, geometry, edges; judges nothing."""
