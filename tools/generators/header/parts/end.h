#undef DML_ENUM_BASE
#undef DML_ENUM_SIZE
#undef DML_IID
#undef DML_IID_CONSTANT

#endif // DIRECTML_H
