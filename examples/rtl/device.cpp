// The simulated unit as a device of mmascope: the functions of a plugin around what Verilator makes of tfdpa.sv.
// With examples/devices/process.c it is a process for `cmd:`.
#include <memory>
#include <mutex>

#include <mmascope_plugin.h>
#include <verilated.h>

#include "Vtfdpa.h"

namespace {

constexpr size_t K = 4;

std::mutex one_at_a_time;

Vtfdpa &unit() {
    static const auto context = std::make_unique<VerilatedContext>();
    static const auto unit = std::make_unique<Vtfdpa>(context.get());
    return *unit;
}

void clock(Vtfdpa &unit) {
    unit.clk = 0;
    unit.eval();
    unit.clk = 1;
    unit.eval();
}

uint64_t packed(const uint64_t *words) {
    uint64_t all = 0;
    for (size_t k = 0; k < K; k++) all |= (words[k] & 0xffff) << (16 * k);
    return all;
}

}  // namespace

extern "C" uint32_t mmascope_abi(void) { return 1; }

extern "C" const char *mmascope_signature(void) { return "a=f16 b=f16 c=f32 d=f32 k=4"; }

extern "C" int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *, const uint64_t *,
                            uint64_t *d) {
    // More clocks than the unit has stages: it does not answer.
    constexpr size_t PATIENCE = 16;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    Vtfdpa &it = unit();
    it.rst = 1;
    it.in_valid = 0;
    for (size_t i = 0; i < PATIENCE; i++) clock(it);
    it.rst = 0;
    // A new question goes in with every clock.
    size_t answered = 0;
    for (size_t i = 0; answered < n; i++) {
        if (i >= n + PATIENCE) return 1;
        it.in_valid = i < n;
        if (i < n) {
            it.a = packed(a + i * K);
            it.b = packed(b + i * K);
            it.c = static_cast<uint32_t>(c[i]);
        }
        clock(it);
        if (it.out_valid) d[answered++] = it.d;
    }
    return 0;
}
