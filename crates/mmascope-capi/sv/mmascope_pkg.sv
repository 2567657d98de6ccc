// mmascope for SystemVerilog: the bits that matrix units compute, through DPI-C.
//
// Compile it with mmascope_dpi.c, and link libmmascope. Functions that return int return 0, or 2 for a wrong argument;
// mmascope_last_error() has the words, and results then mean nothing. Every element is the register word of its format in a
// longint unsigned. Arrays have any range; elements count from the lower index.
package mmascope_pkg;
    // A unit of the catalogue; of a text in the --isa format, which extends the catalogue; of a notation, such as
    // "a=f16 b=f16 c=f32 d=f32 k=4" and "t-fdpa L=4 F=23 e0=-131 -> rz f32". Free it with mmascope_unit_free.
    import "DPI-C" mmascope_dpi_unit_find =
        function int mmascope_unit_find(input string architecture, input string instruction, output chandle found);
    import "DPI-C" mmascope_dpi_unit_load =
        function int mmascope_unit_load(
            input string isa, input string architecture, input string instruction, output chandle found);
    import "DPI-C" mmascope_dpi_unit_parse =
        function int mmascope_unit_parse(input string signature, input string arithmetic, output chandle found);
    import "DPI-C" mmascope_dpi_unit_free = function void mmascope_unit_free(input chandle of_unit);

    // Signature and arithmetic of a unit, a line each; "" on an error. Products of one dot product, and scales of each
    // operand; 0 on an error.
    import "DPI-C" mmascope_dpi_unit_text = function string mmascope_unit_text(input chandle of_unit);
    import "DPI-C" mmascope_dpi_unit_k = function int unsigned mmascope_unit_k(input chandle of_unit);
    import "DPI-C" mmascope_dpi_unit_scales = function int unsigned mmascope_unit_scales(input chandle of_unit);

    // n dot products d = c + sum of a * b. c and d have n elements, a and b n * K, question after question, k ascending.
    import "DPI-C" mmascope_dpi_dot =
        function int mmascope_dot(
            input chandle of_unit, input longint unsigned a[], input longint unsigned b[],
            input longint unsigned c[], output longint unsigned d[]);
    // The same of units with block scales: n * K / block of each.
    import "DPI-C" mmascope_dpi_dot_scaled =
        function int mmascope_dot_scaled(
            input chandle of_unit, input longint unsigned a[], input longint unsigned b[],
            input longint unsigned c[], input longint unsigned scale_a[], input longint unsigned scale_b[],
            output longint unsigned d[]);

    // One instruction on tiles, row-major: A m x K, B K x n, C and D m x n.
    import "DPI-C" mmascope_dpi_tile =
        function int mmascope_tile(
            input chandle of_unit, input int unsigned m, input int unsigned n, input longint unsigned a[],
            input longint unsigned b[], input longint unsigned c[], output longint unsigned d[]);
    // The same of units with block scales, m x K / block and K / block x n.
    import "DPI-C" mmascope_dpi_tile_scaled =
        function int mmascope_tile_scaled(
            input chandle of_unit, input int unsigned m, input int unsigned n, input longint unsigned a[],
            input longint unsigned b[], input longint unsigned c[], input longint unsigned scale_a[],
            input longint unsigned scale_b[], output longint unsigned d[]);

    // The operands that `mmascope gen` makes of a family (bits normal outlier stress sparse close boundary exhaustive), a
    // seed and an index: K words of a and of b, one of c.
    import "DPI-C" mmascope_dpi_case =
        function int mmascope_case(
            input chandle of_unit, input string family, input longint unsigned seed, input longint unsigned index,
            output longint unsigned a[], output longint unsigned b[], output longint unsigned c[]);
    // The same of units with block scales.
    import "DPI-C" mmascope_dpi_case_scaled =
        function int mmascope_case_scaled(
            input chandle of_unit, input string family, input longint unsigned seed, input longint unsigned index,
            output longint unsigned a[], output longint unsigned b[], output longint unsigned c[],
            output longint unsigned scale_a[], output longint unsigned scale_b[]);

    // Words of one format in another, by a rounding ("rne", "rz", ...; "" is the usual one).
    import "DPI-C" mmascope_dpi_cast =
        function int mmascope_cast(
            input string from_format, input string to_format, input string rounding,
            input longint unsigned words[], output longint unsigned to_words[]);
    // The same, rounded stochastically: the random bits of each value, at most 13 where the target is f16, else 16.
    import "DPI-C" mmascope_dpi_cast_random =
        function int mmascope_cast_random(
            input string from_format, input string to_format, input longint unsigned words[],
            input longint unsigned random[], output longint unsigned to_words[]);

    // The words of the last error; the library's version.
    import "DPI-C" mmascope_dpi_last_error = function string mmascope_last_error();
    import "DPI-C" mmascope_dpi_version = function string mmascope_version();
endpackage
