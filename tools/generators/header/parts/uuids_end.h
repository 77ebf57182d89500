#undef DML_UUID

#endif // DIRECTML_UUIDS
