// What a core attaches to: the malloc cache and the sampling counter behind one request port.
module malloc_unit
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 16,
  parameter int unsigned PtrWidth  = 48,
  parameter int unsigned KeyWidth  = IndexWidth,
  parameter int unsigned Storage   = StorageFlop,
  parameter int unsigned Xlen      = 64,
  localparam int unsigned TagWidth = $clog2(Entries)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  op_e                 req_op_i,
  input  logic [Xlen-1:0]     req_a_i,
  input  logic [Xlen-1:0]     req_b_i,
  input  logic [Xlen-1:0]     req_c_i,

  output logic                rsp_valid_o,
  output logic                rsp_hit_o,
  output logic                rsp_wait_o,
  output logic                rsp_violation_o,
  output logic [PtrWidth-1:0] rsp_first_o,
  output logic [PtrWidth-1:0] rsp_second_o,

  output logic                mem_valid_o,
  input  logic                mem_ready_i,
  output logic [PtrWidth-1:0] mem_addr_o,
  output logic [TagWidth-1:0] mem_tag_o,
  input  logic                mem_rsp_valid_i,
  output logic                mem_rsp_ready_o,
  input  logic [TagWidth-1:0] mem_rsp_tag_i,
  input  logic [Xlen-1:0]     mem_rsp_data_i
);

  logic accepted, sample_due, due_q, cache_hit;

  assign accepted = req_valid_i && req_ready_o;

  malloc_cache #(
    .Entries (Entries),
    .PtrWidth(PtrWidth),
    .KeyWidth(KeyWidth),
    .Storage (Storage),
    .Xlen    (Xlen)
  ) u_cache (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_op_i,
    .req_a_i,
    .req_b_i,
    .req_c_i,
    .rsp_valid_o,
    .rsp_hit_o(cache_hit),
    .rsp_wait_o,
    .rsp_violation_o,
    .rsp_first_o,
    .rsp_second_o,
    .mem_valid_o,
    .mem_ready_i,
    .mem_addr_o,
    .mem_tag_o,
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_tag_i,
    .mem_rsp_data_i
  );

  malloc_sampler #(
    .Xlen(Xlen)
  ) u_sampler (
    .clk_i,
    .rst_ni,
    .add_i (accepted && (req_op_i == OpSample)),
    .set_i (accepted && (req_op_i == OpSampleSet)),
    .size_i(req_a_i),
    .due_o (sample_due)
  );

  // The counter answers when the operation is accepted, the unit one cycle later. The cache does
  // nothing on a sampling operation and answers no hit.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      due_q <= 1'b0;
    end else if (accepted) begin
      due_q <= sample_due;
    end
  end

  assign rsp_hit_o = cache_hit | (rsp_valid_o & due_q);

endmodule
