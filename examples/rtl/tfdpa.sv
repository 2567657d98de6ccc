// A fused dot product d = c + sum of a[k] * b[k], of L f16 products and an f32 c: unit.txt has its notation.
//
// Every term is aligned to the largest exponent, cut to F fraction bits toward zero, and added; the sum is cut to f32.
// Three stages: multiply; align and add; normalise. A new question may come with every clock.
//
// LOST_STICKY and NEAREST plant faults; so does an E0 above -126.
module tfdpa #(
    parameter int L = 4,
    parameter int F = 23,           // 23, what f32 has, or more
    parameter int E0 = -131,        // the least exponent that terms are aligned to
    parameter bit LOST_STICKY = 0,  // fault: bits that fall off a negative term are not seen
    parameter bit NEAREST = 0       // fault: the result is rounded to nearest even
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    input  logic [16*L-1:0] a,  // k = 0 in the lowest bits
    input  logic [16*L-1:0] b,
    input  logic [31:0]     c,
    output logic            out_valid,
    output logic [31:0]     d
);
    localparam int TERM = F + 3;             // bits of a signed term, which is below 4 at its exponent
    localparam int SUM = F + 4 + $clog2(L);  // bits of a signed sum of L terms and c
    localparam int TERMS = TERM * (L + 1);
    localparam int EXPONENTS = 10 * (L + 1);
    localparam logic signed [9:0] FLOOR = E0[9:0];
    localparam int FIRST = SUM - 2 - F;      // exponent of the first bit of a sum's magnitude, beside the largest one's

    // Stage 1: decode and multiply. An exponent is the field's, also of a subnormal number: nothing is normalised.

    // The terms side by side: the products, then c.
    logic [TERMS-1:0]     term_now;
    logic [EXPONENTS-1:0] exponent_now;
    logic [L:0]           nan_now, plus_now, minus_now;

    for (genvar k = 0; k < L; k++) begin : multiply
        wire        sign_a, sign_b;
        wire [4:0]  field_a, field_b;
        wire [9:0]  fraction_a, fraction_b;
        assign {sign_a, field_a, fraction_a} = a[16*k +: 16];
        assign {sign_b, field_b, fraction_b} = b[16*k +: 16];
        wire [10:0] significand_a = {|field_a, fraction_a};
        wire [10:0] significand_b = {|field_b, fraction_b};
        wire        nan_a = &field_a && |fraction_a;
        wire        nan_b = &field_b && |fraction_b;
        wire        negative = sign_a ^ sign_b;
        wire [21:0] product = {11'd0, significand_a} * {11'd0, significand_b};
        wire signed [TERM-1:0] magnitude = {1'b0, product, {(F - 20){1'b0}}};
        wire        invalid = nan_a || nan_b || (&field_a && ~|significand_b) || (&field_b && ~|significand_a);
        wire        infinite = (&field_a || &field_b) && !invalid;
        // A zero field means the exponent of field 1.
        assign exponent_now[10*k +: 10] =
            {5'd0, field_a[4:1], field_a[0] | ~|field_a} + {5'd0, field_b[4:1], field_b[0] | ~|field_b} - 10'd30;
        assign term_now[TERM*k +: TERM] = negative ? -magnitude : magnitude;
        assign nan_now[k] = invalid;
        assign plus_now[k] = infinite && !negative;
        assign minus_now[k] = infinite && negative;
    end

    wire        sign_c;
    wire [7:0]  field_c;
    wire [22:0] fraction_c;
    assign {sign_c, field_c, fraction_c} = c;
    wire signed [TERM-1:0] magnitude_c = {2'b00, |field_c, fraction_c, {(F - 23){1'b0}}};
    assign exponent_now[10*L +: 10] = {2'd0, field_c[7:1], field_c[0] | ~|field_c} - 10'd127;
    assign term_now[TERM*L +: TERM] = sign_c ? -magnitude_c : magnitude_c;
    assign nan_now[L] = &field_c && |fraction_c;
    assign plus_now[L] = &field_c && ~|fraction_c && !sign_c;
    assign minus_now[L] = &field_c && ~|fraction_c && sign_c;

    logic                 valid_1;
    logic [TERMS-1:0]     term;
    logic [EXPONENTS-1:0] exponent;
    logic                 nan_1, plus_1, minus_1;

    always_ff @(posedge clk) begin
        valid_1 <= in_valid && !rst;
        term <= term_now;
        exponent <= exponent_now;
        nan_1 <= |nan_now || (|plus_now && |minus_now);
        plus_1 <= |plus_now;
        minus_1 <= |minus_now;
    end

    // Stage 2: align to the largest exponent of a term that is not zero, and add.

    // An arithmetic shift cuts toward minus infinity. Toward zero, a negative term gains one where bits fall off.
    function automatic logic signed [SUM-1:0] aligned(input logic signed [TERM-1:0] value, input logic [9:0] right);
        logic signed [TERM-1:0] shifted;
        logic                   sticky;
        shifted = value >>> right;
        sticky = (shifted <<< right) != value && !LOST_STICKY;
        aligned = {{(SUM - TERM){shifted[TERM-1]}}, shifted} + {{(SUM - 1){1'b0}}, value[TERM-1] & sticky};
    endfunction

    function automatic logic signed [9:0] largest_of(input logic [TERMS-1:0] terms, input logic [EXPONENTS-1:0] exponents);
        logic signed [9:0] one;
        largest_of = FLOOR;
        for (int k = 0; k <= L; k++) begin
            one = exponents[10*k +: 10];
            if (|terms[TERM*k +: TERM] && one > largest_of) largest_of = one;
        end
    endfunction

    function automatic logic signed [SUM-1:0] sum_of(
        input logic [TERMS-1:0] terms, input logic [EXPONENTS-1:0] exponents, input logic signed [9:0] to
    );
        sum_of = 0;
        for (int k = 0; k <= L; k++)
            sum_of = sum_of + aligned(terms[TERM*k +: TERM], to - exponents[10*k +: 10]);
    endfunction

    wire signed [9:0] largest_now = largest_of(term, exponent);

    logic                  valid_2;
    logic signed [9:0]     largest;
    logic signed [SUM-1:0] sum;
    logic                  nan_2, plus_2, minus_2;

    always_ff @(posedge clk) begin
        valid_2 <= valid_1 && !rst;
        largest <= largest_now;
        sum <= sum_of(term, exponent, largest_now);
        nan_2 <= nan_1;
        plus_2 <= plus_1;
        minus_2 <= minus_1;
    end

    // Stage 3: normalise and convert.

    function automatic logic [31:0] converted(input logic signed [SUM-1:0] value, input logic signed [9:0] exponent_max);
        logic [SUM-1:0]    magnitude;  // its uppermost bit is 0
        logic signed [9:0] room, up, field;
        logic              round_up;
        logic [30:0]       rounded;
        magnitude = value[SUM-1] ? -value : value;
        // The first one moves to the top, or as far as the exponent field goes down.
        room = exponent_max + FIRST[9:0] + 10'sd126;
        up = 0;
        for (int k = 0; k < SUM - 2; k++)
            if (!magnitude[SUM-2] && up < room) begin
                magnitude = magnitude << 1;
                up = up + 1;
            end
        round_up = NEAREST && magnitude[SUM-26] && (magnitude[SUM-25] || |(magnitude << 26));
        field = magnitude[SUM-2] ? room - up + 10'sd1 : 10'sd0;
        rounded = {field[7:0], magnitude[SUM-3 -: 23]} + {30'd0, round_up};
        // Only a faulty unit gets here: beside a c of 2^127 all products fall off.
        if (field >= 10'sd255) rounded = {8'hff, 23'd0};
        converted = {value[SUM-1] && |rounded, rounded};
    endfunction

    always_ff @(posedge clk) begin
        out_valid <= valid_2 && !rst;
        if (nan_2) d <= 32'h7fffffff;
        else if (plus_2) d <= 32'h7f800000;
        else if (minus_2) d <= 32'hff800000;
        else d <= converted(sum, largest);
    end
endmodule
