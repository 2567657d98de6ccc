// A unit of one's own in C++: the handle frees itself, and an error is an exception.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mmascope.h>
#include <stdexcept>
#include <vector>

class Unit {
  public:
    Unit(const char *signature, const char *program) {
        mmascope_unit *unit = nullptr;
        check(mmascope_unit_parse(signature, program, &unit));
        unit_.reset(unit);
    }

    std::uint64_t dot(const std::vector<std::uint64_t> &a, const std::vector<std::uint64_t> &b,
                      std::uint64_t c) const {
        std::uint64_t d = 0;
        check(mmascope_dot(unit_.get(), 1, a.data(), b.data(), &c, nullptr, nullptr, &d));
        return d;
    }

  private:
    static void check(int status) {
        if (status != 0) {
            throw std::runtime_error(mmascope_last_error());
        }
    }

    struct Free {
        void operator()(mmascope_unit *unit) const { mmascope_unit_free(unit); }
    };
    std::unique_ptr<mmascope_unit, Free> unit_;
};

int main() {
    try {
        const Unit unit("a=bf16 b=bf16 c=f32 d=f32 k=2", "t-fdpa L=2 F=12 e0=-126 align=rne -> rne f32");
        std::printf("%08llx\n",
                    static_cast<unsigned long long>(unit.dot({0x3f80, 0x3f80}, {0x3f80, 0x3f80}, 0)));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
