"""Pictures of graphs: SVG and the language of Graphviz."""
