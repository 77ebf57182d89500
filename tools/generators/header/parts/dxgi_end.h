#undef DML_ENUM_BASE
#undef DML_ENUM_SIZE
#undef DML_IID
#undef DML_IID_CONSTANT
#undef DML_UUID

#endif // DIRECTML_PY_DXGI1_6_H
#endif
