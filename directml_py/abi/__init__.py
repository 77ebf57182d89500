"""How memory and objects of C are handled: pointers, structs, HRESULTs, lives, and what rules are made of."""
