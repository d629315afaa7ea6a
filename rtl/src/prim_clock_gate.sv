// Integrated clock gate: the clock passes in cycles that follow an edge at which en_i was high.
// Synthesis replaces this module by the library's cell if it has one (rtl/synth/flow.py).
module prim_clock_gate (
  input  logic clk_i,
  input  logic en_i,
  output logic clk_o
);

  logic en_latched;

  always_latch begin
    if (!clk_i) en_latched = en_i;
  end

  assign clk_o = clk_i & en_latched;

endmodule
