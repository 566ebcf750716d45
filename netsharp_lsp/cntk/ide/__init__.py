"""The features of an editor for CNTK's languages: a module a feature, asked by the snapshot."""
