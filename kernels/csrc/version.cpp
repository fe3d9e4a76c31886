extern "C" int pacbench_abi_version(void) { return 1; }
