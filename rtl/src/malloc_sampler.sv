// The sampling counter: adds up requested sizes and asks for a sample at the period
// (Mallacc paper, section 4.2; docs/isa.md, `mcsample`). It answers in the cycle it is used.
module malloc_sampler #(
  parameter int unsigned Xlen = 64
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            add_i,      // count size_i
  input  logic            set_i,      // size_i is the new period; restarts the count
  input  logic [Xlen-1:0] size_i,
  output logic            due_o       // with add_i: take a sample
);

  localparam int unsigned Width = 32;

  logic [Width-1:0] period_q, count_q, size;
  logic [Width:0]   sum;
  logic             wide;

  // Wider values count as the largest one.
  assign wide  = |(size_i >> Width);
  assign size  = wide ? '1 : size_i[Width-1:0];
  assign sum   = {1'b0, count_q} + {1'b0, size};
  assign due_o = add_i && (period_q != '0) && (sum >= {1'b0, period_q});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      period_q <= '0;
      count_q  <= '0;
    end else if (set_i) begin
      period_q <= size;
      count_q  <= '0;
    end else if (add_i && (period_q != '0)) begin
      count_q <= due_o ? '0 : sum[Width-1:0];
    end
  end

`ifdef MALLOC_CACHE_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      CountStaysBelowPeriod : assert ((count_q == '0) || (count_q < period_q));
    end
  end
`endif

endmodule
