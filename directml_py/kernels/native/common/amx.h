/* What arch_prctl of Linux is asked about AMX: which features the system supports, and to grant the tiles' one. */

#pragma once

enum { DML_AMX_SUPPORTED = 0x1021, DML_AMX_ASK = 0x1023, DML_AMX_TILES = 18 };
