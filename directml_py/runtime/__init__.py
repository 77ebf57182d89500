"""What runs commands: memory, buffers, commands, queues and fences, and the events that others observe.

It knows no API: Direct3D 12 and DirectML are façades over it, which check arguments and give things their names.
"""
