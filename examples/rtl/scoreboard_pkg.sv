// A scoreboard without UVM: it asks the golden model what goes into the unit, and compares in order what comes out.
package scoreboard_pkg;
    import mmascope_pkg::*;

    class scoreboard #(int K = 4);
        chandle          model;
        longint unsigned expected[$];
        longint unsigned compared = 0, wrong = 0;
        // How many wrong answers are printed.
        int              shown = 10;

        // The golden model, by its line in a file of the --isa format.
        function new(input string file, input string architecture, input string instruction);
            string line, text;
            int    handle;
            handle = $fopen(file, "r");
            if (handle == 0) $fatal(1, "%s cannot be read", file);
            while ($fgets(line, handle) != 0) text = {text, line};
            $fclose(handle);
            if (mmascope_unit_load(text, architecture, instruction, model) != 0) $fatal(1, "%s", mmascope_last_error());
        endfunction

        // What goes in: the words of a and b, and c.
        function void question(input longint unsigned a[K], input longint unsigned b[K], input longint unsigned c[1]);
            longint unsigned d[1];
            if (mmascope_dot(model, a, b, c, d) != 0) $fatal(1, "%s", mmascope_last_error());
            expected.push_back(d[0]);
        endfunction

        // What comes out.
        function void answer(input longint unsigned d);
            longint unsigned right;
            if (expected.size() == 0) $fatal(1, "answer %0d: nothing was asked", compared + 1);
            right = expected.pop_front();
            compared++;
            if (d !== right) begin
                wrong++;
                if (wrong <= longint'(shown)) $display("answer %0d: %h, not %h", compared, d, right);
            end
        endfunction

        // Whether every question was answered, and every answer was right.
        function bit passed();
            return expected.size() == 0 && wrong == 0;
        endfunction
    endclass
endpackage
