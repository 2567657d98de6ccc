// Every function of mmascope_pkg, with right and wrong arguments. Prints what differs; tests/sv.rs runs it.
module dpi;
    import mmascope_pkg::*;

    int checks = 0, failures = 0;

    function automatic void expected(input bit holds, input string what);
        checks++;
        if (holds) return;
        $display("%s (last error: %s)", what, mmascope_last_error());
        failures++;
    endfunction

    function automatic bit holds_words(input string text, input string words);
        for (int at = 0; at + words.len() <= text.len(); at++)
            if (text.substr(at, at + words.len() - 1) == words) return 1;
        return 0;
    endfunction

    // A status of 2, and a message that has the words.
    function automatic void refused(input int status, input string words);
        expected(status == 2, {words, ": not refused"});
        expected(holds_words(mmascope_last_error(), words), {words, ": not said"});
    endfunction

    chandle unit, scaled, other;
    string  text;

    // Ranges of every kind: elements count from the lower index.
    longint unsigned a[8], b[7:0], c[1], d[3:3];
    longint unsigned two_a[10:25], two_b[16], two_c[2], two_d[1:0];
    longint unsigned tile_a[16], tile_b[8], tile_c[2], tile_d[2];
    longint unsigned words_a[64], words_b[64], words_c[1], scales_a[4], scales_b[4], scaled_d[1], scaled_tile[1];
    longint unsigned narrow[3], wide[3], random_bits[3];
    longint unsigned short_a[4], short_d[2];

    initial begin
        expected(mmascope_version() != "", "the version");
        expected(mmascope_unit_find("hopper", "mma.m16n8k8.f32.f16.f16.f32", unit) == 0, "a unit");
        expected(mmascope_unit_k(unit) == 8 && mmascope_unit_scales(unit) == 0, "its shape");
        text = mmascope_unit_text(unit);
        expected(holds_words(text, "k=8") && holds_words(text, "t-fdpa L=16 F=25"), "its text");

        // c = 2^23 and the products -2^23, -1/2, -1/4, -1/8: -3/4 on this unit.
        a = '{64'hf000, 64'hb800, 64'hb400, 64'hb000, 0, 0, 0, 0};
        for (int k = 0; k < 8; k++) b[k] = k == 0 ? 64'h6400 : 64'h3c00;
        c[0] = 64'h4b000000;
        expected(mmascope_dot(unit, a, b, c, d) == 0 && d[3] == 64'hbf400000, "a dot product");
        // Two at once, the second with c = 0 and one product, 1.
        for (int k = 0; k < 16; k++) begin
            two_a[10 + k] = k < 8 ? a[k] : k == 8 ? 64'h3c00 : 0;
            two_b[k] = k < 8 ? b[k] : 64'h3c00;
        end
        two_c = '{64'h4b000000, 0};
        expected(mmascope_dot(unit, two_a, two_b, two_c, two_d) == 0, "two dot products");
        expected(two_d[0] == 64'hbf400000 && two_d[1] == 64'h3f800000, "their results");
        // A of two rows, B of one column.
        for (int k = 0; k < 16; k++) tile_a[k] = two_a[10 + k];
        for (int k = 0; k < 8; k++) tile_b[k] = b[k];
        tile_c = '{64'h4b000000, 0};
        expected(mmascope_tile(unit, 2, 1, tile_a, tile_b, tile_c, tile_d) == 0, "a tile");
        expected(tile_d[0] == 64'hbf400000 && tile_d[1] == 64'h44800000, "its results");

        // The case that the library's tests know.
        expected(mmascope_case(unit, "normal", 1, 0, a, b, c) == 0, "a case");
        expected(a[0] == 64'h39fa && a[1] == 64'hbace && a[2] == 64'ha79f && a[3] == 64'h4033, "its operands");

        expected(mmascope_unit_find("rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
                                    scaled) == 0, "a unit with scales");
        expected(mmascope_unit_k(scaled) == 64 && mmascope_unit_scales(scaled) == 4, "its shape");
        expected(mmascope_case_scaled(scaled, "bits", 3, 5, words_a, words_b, words_c, scales_a, scales_b) == 0,
                 "a case with scales");
        // 1 * 1 with scales 1 and 2 (ue4m3), and c = 1.
        foreach (words_a[k]) begin
            words_a[k] = k == 16 ? 2 : 0;
            words_b[k] = 2;
        end
        foreach (scales_a[k]) begin
            scales_a[k] = 64'h38;
            scales_b[k] = k == 1 ? 64'h40 : 64'h38;
        end
        words_c[0] = 64'h3f800000;
        expected(mmascope_dot_scaled(scaled, words_a, words_b, words_c, scales_a, scales_b, scaled_d) == 0
                 && scaled_d[0] == 64'h40400000, "a dot product with scales");
        expected(mmascope_tile_scaled(scaled, 1, 1, words_a, words_b, words_c, scales_a, scales_b, scaled_tile) == 0
                 && scaled_tile[0] == 64'h40400000, "a tile with scales");

        narrow = '{64'h38, 64'hc0, 64'h7f};
        expected(mmascope_cast("e4m3", "f32", "", narrow, wide) == 0, "a cast");
        expected(wide[0] == 64'h3f800000 && wide[1] == 64'hc0000000, "its results");
        wide = '{64'h3f8fffff, 64'h3f900000, 0};
        expected(mmascope_cast("f32", "e4m3", "rz", wide, narrow) == 0 && narrow[0] == 64'h38 && narrow[1] == 64'h39,
                 "a rounding");
        // Half a unit of f16 above 1, with random bits that do not carry, that do, and with too many.
        wide = '{64'h3f801000, 64'h3f801000, 64'h3f801000};
        random_bits = '{64'h0fff, 64'h1000, 64'h1fff};
        expected(mmascope_cast_random("f32", "f16", wide, random_bits, narrow) == 0 && narrow[0] == 64'h3c00
                 && narrow[1] == 64'h3c01 && narrow[2] == 64'h3c01, "random bits");
        random_bits[2] = 64'h2000;
        refused(mmascope_cast_random("f32", "f16", wide, random_bits, narrow), "random[2] is 0x2000");

        expected(mmascope_unit_parse("a=f16 b=f16 c=f32 d=f32 k=8", "t-fdpa L=16 F=25 e0=-133 -> rz f32", other) == 0,
                 "a notation");
        mmascope_unit_free(other);
        expected(mmascope_unit_load("arch mine\ndot | f16 x f16 + f32 -> f32 | m1n1k4 | fma-chain -> rne f32 | open\n",
                                    "mine", "dot", other) == 0, "a text");
        expected(mmascope_unit_k(other) == 4, "its unit");
        mmascope_unit_free(other);

        // What is refused.
        a[0] = 64'h10000;
        refused(mmascope_dot(unit, a, b, c, d), "a[0] is 0x10000");
        refused(mmascope_dot(unit, short_a, b, c, d), "a has 4 elements, not 8");
        refused(mmascope_dot(unit, a, b, c, short_d), "d has 2 elements, not 1");
        refused(mmascope_dot_scaled(unit, a, b, c, short_a, short_a, d), "scale_a has 4 elements, not 0");
        refused(mmascope_dot(null, a, b, c, d), "unit is NULL");
        refused(mmascope_unit_find("hoper", "x", other), "hopper");
        refused(mmascope_cast("e4m3", "f33", "", narrow, wide), "f33");
        refused(mmascope_case(unit, "norml", 1, 0, a, b, c), "normal");
        expected(mmascope_unit_k(null) == 0 && mmascope_unit_text(null) == "", "no unit");

        mmascope_unit_free(unit);
        mmascope_unit_free(scaled);
        $display("%0d checks, %0d failures", checks, failures);
        $finish;
    end
endmodule
