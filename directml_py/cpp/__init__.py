"""C++ programs of what was built in Python.

``desc_source`` writes descs as declarations, ``graph_source`` whole programs of graphs. They run on ``machine.h`` and
``run_graph.h``, which use nothing but DirectML and Direct3D 12.
"""
