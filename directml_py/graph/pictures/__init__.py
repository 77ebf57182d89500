"""Pictures of graphs: SVG and Graphviz DOT."""
