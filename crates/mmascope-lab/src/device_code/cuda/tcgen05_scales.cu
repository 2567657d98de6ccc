  // Scales of rows l, 32 + l, 64 + l and 96 + l in four columns of lane l, block after block in the bytes of a
  // word, alike in all four warps. Those of B by its columns, all of them.
  for (int side = 0; side < 2; side++) {
    unsigned s[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
      const int row = 32 * i + lane % 32;
      if (row >= (side ? (int)N : (int)ROWS)) continue;
      const word *from = (side ? b + row * WIDE : a + (at_row + row) * WIDE) + K;
      for (int block = 0; block < 4; block++) s[i] |= (unsigned)from[block % SCALES] << (8 * block);
    }
    asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1,%2,%3,%4};" ::
      "r"(own + (side ? SCALES_B : SCALES_A)), "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3]) : "memory");
  }
