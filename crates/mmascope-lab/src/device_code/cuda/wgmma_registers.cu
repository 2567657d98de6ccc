  // Lane 4 g + q of a warp: rows g and g + 8, EACH consecutive k from q EACH on, then the next 4 EACH.
  enum { EACH = 32 / @BITS@ };
  unsigned own[4];
  for (int r = 0; r < 4; r++) {
    word packed = 0;
    for (int e = 0; e < EACH; e++)
      packed |= a[(g + r % 2 * 8) * WIDE + r / 2 * 4 * EACH + q * EACH + e] << (@BITS@ * e);
    own[r] = (unsigned)packed;
  }
