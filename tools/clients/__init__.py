"""Third-party programs run on the emulator, with their results compared to references."""
