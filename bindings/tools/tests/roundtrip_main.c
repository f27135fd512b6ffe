/* Makes a program of the generated proof, so that every function must be found by the linker too. */
int main(void) { return 0; }
