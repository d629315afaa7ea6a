// G3 (docs/isa.md), unbounded: ranges of valid entries are disjoint and classes differ, for any
// operations with any operands; a hit is large enough; the other named assertions of the modules.
module ranges
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 2,
  parameter int unsigned PtrWidth  = 2,
  parameter int unsigned KeyWidth  = 3,
  localparam int unsigned Xlen     = SizeWidth + 1,
  localparam int unsigned TagWidth = $clog2(Entries)
) (
  input logic                clk_i,
  input logic                req_valid_i,
  input op_e                 req_op_i,
  input logic [Xlen-1:0]     req_a_i,
  input logic [Xlen-1:0]     req_b_i,
  input logic [Xlen-1:0]     req_c_i,
  input logic                mem_ready_i,
  input logic                mem_rsp_valid_i,
  input logic [TagWidth-1:0] mem_rsp_tag_i,
  input logic [Xlen-1:0]     mem_rsp_data_i
);

  // Reset in the first cycle, not later.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic                req_ready, rsp_valid, rsp_hit, rsp_wait, rsp_violation, mem_valid;
  logic                mem_rsp_ready;
  logic [PtrWidth-1:0] rsp_first, rsp_second, mem_addr;
  logic [TagWidth-1:0] mem_tag;

  malloc_cache #(
    .Entries (Entries),
    .PtrWidth(PtrWidth),
    .KeyWidth(KeyWidth),
    .Xlen    (Xlen)
  ) dut (
    .clk_i,
    .rst_ni         (started_q),
    .req_valid_i,
    .req_ready_o    (req_ready),
    .req_op_i,
    .req_a_i,
    .req_b_i,
    .req_c_i,
    .rsp_valid_o    (rsp_valid),
    .rsp_hit_o      (rsp_hit),
    .rsp_wait_o     (rsp_wait),
    .rsp_violation_o(rsp_violation),
    .rsp_first_o    (rsp_first),
    .rsp_second_o   (rsp_second),
    .mem_valid_o    (mem_valid),
    .mem_ready_i,
    .mem_addr_o     (mem_addr),
    .mem_tag_o      (mem_tag),
    .mem_rsp_valid_i,
    .mem_rsp_ready_o(mem_rsp_ready),
    .mem_rsp_tag_i,
    .mem_rsp_data_i
  );

  for (genvar i = 0; i < Entries; i++) begin : gen_entry
    for (genvar j = 0; j < i; j++) begin : gen_pair
      logic both;
      assign both = started_q && dut.u_control.valid_q[i] && dut.u_control.valid_q[j];

      always_ff @(posedge clk_i) begin
        RangesAreDisjoint : assert (!both || (dut.u_store.hi[i] < dut.u_store.lo[j]) ||
                                    (dut.u_store.hi[j] < dut.u_store.lo[i]));
        ClassesDiffer : assert (!both || (dut.u_store.classes[i] != dut.u_store.classes[j]));
      end
    end

    always_ff @(posedge clk_i) begin
      RangeIsInOrder : assert (!started_q || !dut.u_control.valid_q[i] ||
                               (dut.u_store.lo[i] <= dut.u_store.hi[i]));
    end
  end

  // The size asked for by the lookup that is being executed.
  logic [Xlen-1:0] size_q = '0;
  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready) size_q <= req_a_i;
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      // G4.
      HitIsLargeEnough : assert (!(rsp_valid && rsp_hit && (dut.operation_q.op == OpLookup)) ||
                                 (Xlen'(dut.u_store.sel_size_o) >= size_q));
      NoReturn : assume (req_op_i != OpReturn);
      // Not vacuous: a full cache, a hit, an update that drops or evicts another class's entry.
      ReachFull : assert (!(&dut.u_control.valid_q));
      ReachHit : assert (!(rsp_valid && rsp_hit && (dut.operation_q.op == OpLookup)));
      ReachOverlap : assert (!(rsp_valid && (dut.operation_q.op == OpUpdate) &&
                               dut.operation_q.operands_ok && (dut.u_control.overlapped != '0)));
      ReachEviction : assert (!(rsp_valid && (dut.operation_q.op == OpUpdate) &&
                                dut.operation_q.operands_ok && !dut.u_control.found &&
                                (&dut.u_control.left)));
    end
  end

endmodule
