// One stored word without reset, written when en_i is high at a clock edge.
//
// Latch storage opens in the first half of the cycle *after* that edge, so d_i must still be there
// then and q_o must not be used in that cycle. The two-cycle operations of malloc_cache guarantee
// both: operands stay in the operand register for the cycle after their execution, in which the
// next operation is at most accepted.
module malloc_cache_word #(
  parameter int unsigned Width   = 8,
  parameter int unsigned Storage = malloc_cache_pkg::StorageFlop
) (
  input  logic             clk_i,
  input  logic             en_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);

  import malloc_cache_pkg::*;

  if (Storage == StorageFlop) begin : gen_flop
    logic [Width-1:0] word_q;

    always_ff @(posedge clk_i) begin
      if (en_i) word_q <= d_i;
    end
    assign q_o = word_q;
  end else begin : gen_gate
    logic clk_word;

    prim_clock_gate u_gate (
      .clk_i,
      .en_i,
      .clk_o(clk_word)
    );

    if (Storage == StorageGated) begin : gen_gated
      logic [Width-1:0] word_q;

      always_ff @(posedge clk_word) word_q <= d_i;
      assign q_o = word_q;
    end else begin : gen_latch
      logic [Width-1:0] word_q;

`ifdef VERILATOR
      // The simulator opens a latch before the flip-flops of the same edge have sampled what
      // depends on it. This is the latch at its slowest: it takes the word when it closes. So
      // simulation checks that the operand stays until then and that nobody needs the word earlier.
      always_ff @(negedge clk_word) word_q <= d_i;
`else
      always_latch begin
        if (clk_word) word_q = d_i;
      end
`endif
      assign q_o = word_q;
    end
  end

  if (Storage > StorageLatch) begin : gen_bad_storage
    $error("malloc_cache_word: Storage = %0d: must be 0 (flop), 1 (gated), 2 (latch)", Storage);
  end

endmodule
