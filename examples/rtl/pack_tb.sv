// Reads the files of `mmascope gen --format readmemh` and compares units with them: the unit, which has to agree with every
// vector, and three faulty ones, which vectors have to find.
//
//   +PACK=FOLDER    where a.hex, b.hex, c.hex, d.hex and count.hex are
//   +WITHIN=N       a fault is to be found within the first N vectors (200)
module pack_tb;
    localparam int L = 4, MOST = 1 << 16, UNITS = 4;

    logic        clk = 0, rst = 1, in_valid = 0;
    logic [63:0] a, b;
    logic [31:0] c;

    // One bit, or one word, a unit.
    wire [UNITS-1:0]       out_valid;
    wire [UNITS-1:0][31:0] d;

    tfdpa true_unit (clk, rst, in_valid, a, b, c, out_valid[0], d[0]);
    tfdpa #(.LOST_STICKY(1)) lost_sticky (clk, rst, in_valid, a, b, c, out_valid[1], d[1]);
    tfdpa #(.E0(-125)) wrong_floor (clk, rst, in_valid, a, b, c, out_valid[2], d[2]);
    tfdpa #(.NEAREST(1)) nearest (clk, rst, in_valid, a, b, c, out_valid[3], d[3]);

    function automatic string name_of(input int unit);
        case (unit)
            0: name_of = "the unit";
            1: name_of = "lost sticky path";
            2: name_of = "wrong floor e0";
            default: name_of = "RNE for RZ";
        endcase
    endfunction

    logic [15:0] all_a [0:MOST*L-1];
    logic [15:0] all_b [0:MOST*L-1];
    logic [31:0] all_c [0:MOST-1];
    logic [31:0] all_d [0:MOST-1];
    logic [31:0] count [0:0];

    string pack;
    int    total, limit, sent, seen, failures;
    int    wrong [0:UNITS-1];  // vectors that a unit answers wrong, and the first of them
    int    first [0:UNITS-1];

    always #1 clk = ~clk;

    initial begin
        if (!$value$plusargs("PACK=%s", pack)) $fatal(1, "+PACK=FOLDER is missing");
        if (!$value$plusargs("WITHIN=%d", limit)) limit = 200;
        $readmemh({pack, "/count.hex"}, count);
        total = count[0];
        if (total == 0 || total > MOST) $fatal(1, "%0d vectors in %s; 1 to %0d can be read", total, pack, MOST);
        $readmemh({pack, "/a.hex"}, all_a, 0, total * L - 1);
        $readmemh({pack, "/b.hex"}, all_b, 0, total * L - 1);
        $readmemh({pack, "/c.hex"}, all_c, 0, total - 1);
        $readmemh({pack, "/d.hex"}, all_d, 0, total - 1);
        repeat (4) @(negedge clk);
        rst = 0;
        for (sent = 0; sent < total; sent = sent + 1) begin
            a = {all_a[sent*L + 3], all_a[sent*L + 2], all_a[sent*L + 1], all_a[sent*L]};
            b = {all_b[sent*L + 3], all_b[sent*L + 2], all_b[sent*L + 1], all_b[sent*L]};
            c = all_c[sent];
            in_valid = 1;
            @(negedge clk);
        end
        in_valid = 0;
        wait (seen == total);
        for (int unit = 0; unit < UNITS; unit++) begin
            if (unit == 0 && wrong[unit] == 0) $display("%s: all %0d vectors agree", name_of(unit), total);
            else if (wrong[unit] == 0) $display("%s: no vector of %0d finds it", name_of(unit), total);
            else $display("%s: %0d of %0d vectors differ, the first is number %0d", name_of(unit), wrong[unit], total, first[unit] + 1);
            if (unit == 0 ? wrong[unit] != 0 : wrong[unit] == 0 || first[unit] >= limit) failures++;
        end
        if (failures != 0) $fatal(1, "%0d of %0d units are not as they should be", failures, UNITS);
        $finish;
    end

    // The units have the same number of stages: they answer together.
    always @(negedge clk) if (out_valid[0]) begin
        for (int unit = 0; unit < UNITS; unit++)
            if (!out_valid[unit] || d[unit] !== all_d[seen]) begin
                if (wrong[unit] == 0) first[unit] = seen;
                if (unit == 0) $display("vector %0d: %h, not %h", seen + 1, d[unit], all_d[seen]);
                wrong[unit]++;
            end
        seen++;
    end
endmodule
