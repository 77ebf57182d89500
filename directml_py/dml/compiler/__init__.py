"""Operator graphs: their description, its rules, and how one is compiled into a single operator."""
