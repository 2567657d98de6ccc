// Random cases of every family that `mmascope gen` has for the unit, through the scoreboard.
//
//   +UNIT=FILE     the unit's notation (unit.txt)
//   +CASES=N       how many (1000000)
//   +SEED=N        of the cases (1)
module random_tb;
    import mmascope_pkg::*;
    import scoreboard_pkg::*;

    localparam longint FAMILIES = 7;

    logic        clk = 0, rst = 1, in_valid = 0;
    logic [63:0] a, b;
    logic [31:0] c, d;
    logic        out_valid;

    tfdpa dut (clk, rst, in_valid, a, b, c, out_valid, d);

    scoreboard #(4) board;
    string     file;
    longint    cases, seed;

    function automatic string family(input longint number);
        case (number)
            0: family = "bits";
            1: family = "normal";
            2: family = "outlier";
            3: family = "stress";
            4: family = "sparse";
            5: family = "close";
            default: family = "boundary";
        endcase
    endfunction

    always #1 clk = ~clk;

    initial begin
        longint unsigned words_a[4], words_b[4], words_c[1];
        if (!$value$plusargs("UNIT=%s", file)) file = "unit.txt";
        if (!$value$plusargs("CASES=%d", cases)) cases = 1000000;
        if (!$value$plusargs("SEED=%d", seed)) seed = 1;
        board = new(file, "example", "dot4.f32.f16");
        repeat (4) @(negedge clk);
        rst = 0;
        for (longint i = 0; i < cases; i++) begin
            if (mmascope_case(board.model, family(i % FAMILIES), seed, i / FAMILIES, words_a, words_b, words_c) != 0)
                $fatal(1, "%s", mmascope_last_error());
            board.question(words_a, words_b, words_c);
            a = {words_a[3][15:0], words_a[2][15:0], words_a[1][15:0], words_a[0][15:0]};
            b = {words_b[3][15:0], words_b[2][15:0], words_b[1][15:0], words_b[0][15:0]};
            c = words_c[0][31:0];
            in_valid = 1;
            @(negedge clk);
        end
        in_valid = 0;
        repeat (8) @(negedge clk);
        $display("%0d cases: %0d answers, %0d wrong", cases, board.compared, board.wrong);
        if (!board.passed()) $fatal(1, "the unit is not the model");
        $finish;
    end

    always @(negedge clk) if (out_valid) board.answer(longint'(d));
endmodule
