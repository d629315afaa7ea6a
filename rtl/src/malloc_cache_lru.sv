// Order of use: each entry has a rank, 0 = used last. A used entry takes rank 0 and those that were
// ahead of it move back by one, so the ranks stay a permutation. That happens a cycle after the
// use: the oldest entry is not asked for before the next operation executes, two cycles later.
module malloc_cache_lru #(
  parameter int unsigned Entries = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  logic [Entries-1:0] touch_i,   // one-hot, or none
  output logic [Entries-1:0] oldest_o   // one-hot
);

  localparam int unsigned RankWidth = $clog2(Entries);

  logic [RankWidth-1:0] rank_q[Entries];
  logic [RankWidth-1:0] touched;
  logic [Entries-1:0]   touch_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      touch_q <= '0;
    end else begin
      touch_q <= en_i ? touch_i : '0;
    end
  end

  always_comb begin
    touched = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      touched |= rank_q[i] & {RankWidth{touch_q[i]}};
    end
  end

  // No entry touched: `touched` is 0 and no rank is below it.
  for (genvar i = 0; i < Entries; i++) begin : gen_rank
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        rank_q[i] <= RankWidth'(i);
      end else if (touch_q[i]) begin
        rank_q[i] <= '0;
      end else if (rank_q[i] < touched) begin
        rank_q[i] <= rank_q[i] + RankWidth'(1);
      end
    end

    assign oldest_o[i] = &rank_q[i];
  end

`ifdef MALLOC_CACHE_ASSERT
  for (genvar i = 0; i < Entries; i++) begin : gen_assert
    for (genvar j = 0; j < i; j++) begin : gen_pair
      always_ff @(posedge clk_i) begin
        if (rst_ni) begin
          RanksDiffer : assert (rank_q[i] != rank_q[j]);
        end
      end
    end
  end
`endif

endmodule
