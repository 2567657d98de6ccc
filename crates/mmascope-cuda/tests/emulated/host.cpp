// The other side of `emulated.rs`: holds memory and runs kernels as it is told on standard input. All numbers have 64 bits.
// `kernels` stands before this file.
static void call(const Kernel &k, const Word *a) {
  typedef Word W;
  void *f = k.function;
  switch (k.parameters) {
    case 4: ((void (*)(W, W, W, W))f)(a[0], a[1], a[2], a[3]); break;
    case 5: ((void (*)(W, W, W, W, W))f)(a[0], a[1], a[2], a[3], a[4]); break;
    case 7: ((void (*)(W, W, W, W, W, W, W))f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6]); break;
    case 9: ((void (*)(W, W, W, W, W, W, W, W, W))f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]); break;
    case 17:
      ((void (*)(W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W))f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
        a[12], a[13], a[14], a[15], a[16]);
      break;
    case 18:
      ((void (*)(W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W))f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
        a[12], a[13], a[14], a[15], a[16], a[17]);
      break;
    default: fprintf(stderr, "a kernel of %d parameters\n", k.parameters), exit(9);
  }
}

// Threads that meet are threads of this machine; others run one after the other.
static void run(const Kernel &k, unsigned blocks, unsigned threads, const Word *arguments) {
  for (unsigned block = 0; block < blocks; block++) {
    if (!k.meets) {
      blockIdx.x = block, blockDim.x = threads;
      for (unsigned lane = 0; lane < threads; lane++) threadIdx.x = lane, call(k, arguments);
      continue;
    }
    std::barrier<> barrier(threads);
    all_threads = &barrier;
    std::vector<std::thread> running;
    for (unsigned lane = 0; lane < threads; lane++)
      running.emplace_back([&, lane] {
        threadIdx.x = lane, blockIdx.x = block, blockDim.x = threads;
        call(k, arguments);
      });
    for (auto &one : running) one.join();
  }
}

static Word next() {
  Word word;
  if (fread(&word, 8, 1, stdin) != 1) exit(0);
  return word;
}
static void reply(Word word) { fwrite(&word, 8, 1, stdout), fflush(stdout); }

int main() {
  std::vector<unsigned char *> memory;
  for (;;) switch (next()) {
    case 1: memory.push_back((unsigned char *)calloc(next() + 1, 1)), reply(memory.size() - 1); break;
    case 2: {
      Word at = next(), bytes = next();
      if (bytes && fread(memory[at], 1, bytes, stdin) != bytes) exit(9);
      break;
    }
    case 3: {
      Word at = next(), bytes = next();
      fwrite(memory[at], 1, bytes, stdout), fflush(stdout);
      break;
    }
    case 4: {
      const Kernel &kernel = kernels[next()];
      unsigned blocks = next(), threads = next();
      Word arguments[32], count = next();
      for (Word i = 0; i < count; i++) {
        bool is_memory = next();
        arguments[i] = next();
        if (is_memory) arguments[i] = (Word)memory[arguments[i]];
      }
      run(kernel, blocks, threads, arguments);
      reply(0);
      break;
    }
    default: fprintf(stderr, "no such order\n"), exit(9);
  }
}
