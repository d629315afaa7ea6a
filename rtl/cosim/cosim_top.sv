// The unit under co-simulation, with the cache's state brought out for comparison.
module cosim_top
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 16,
  parameter int unsigned PtrWidth  = 48,
  parameter int unsigned KeyWidth  = 12,
  parameter int unsigned Storage   = 0,
  parameter int unsigned Xlen      = 64,
  localparam int unsigned TagWidth = $clog2(Entries)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  logic [OpWidth-1:0]  req_op_i,
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
  input  logic [Xlen-1:0]     mem_rsp_data_i,

  // An operation takes effect at the next edge, and which one.
  output logic                fire_o,
  output logic [OpWidth-1:0]  fire_op_o,

  // Parameters, so that the bench needs no second copy of them.
  output logic [31:0]         entries_o,
  output logic [31:0]         ptr_width_o,
  output logic [31:0]         key_width_o,
  output logic [31:0]         storage_o,
  output logic [31:0]         xlen_o,

  // State of the entries, as mcache_entry() of the model gives it.
  output logic [Entries-1:0]    entry_valid_o,
  output logic [Entries-1:0]    entry_blocked_o,
  output logic [Entries-1:0]    entry_pending_o,
  output logic [ClassWidth-1:0] entry_class_o[Entries],
  output logic [SizeWidth-1:0]  entry_size_o [Entries],
  output logic [KeyWidth-1:0]   entry_lo_o   [Entries],
  output logic [KeyWidth-1:0]   entry_hi_o   [Entries],
  output logic [63:0]           entry_head_o [Entries],
  output logic [63:0]           entry_next_o [Entries]
);

  malloc_unit #(
    .Entries (Entries),
    .PtrWidth(PtrWidth),
    .KeyWidth(KeyWidth),
    .Storage (Storage),
    .Xlen    (Xlen)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_op_i(op_e'(req_op_i)),
    .req_a_i,
    .req_b_i,
    .req_c_i,
    .rsp_valid_o,
    .rsp_hit_o,
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

  assign fire_o    = u_unit.u_cache.fire;
  assign fire_op_o = u_unit.u_cache.operation_q.op;

  assign entries_o   = Entries;
  assign ptr_width_o = PtrWidth;
  assign key_width_o = KeyWidth;
  assign storage_o   = Storage;
  assign xlen_o      = Xlen;

  assign entry_valid_o   = u_unit.u_cache.u_control.valid_q;
  assign entry_blocked_o = u_unit.u_cache.u_control.blocked_q;
  assign entry_pending_o = u_unit.u_cache.u_control.pending_q;

  for (genvar i = 0; i < Entries; i++) begin : gen_entry
    logic flip, head_known, next_known;
    assign flip       = u_unit.u_cache.u_control.flip_q[i];
    assign head_known = u_unit.u_cache.u_control.head_q[i];
    assign next_known = u_unit.u_cache.u_control.next_q[i];

    assign entry_class_o[i] = u_unit.u_cache.u_store.classes[i];
    assign entry_size_o[i]  = u_unit.u_cache.u_store.size[i];
    assign entry_lo_o[i]    = u_unit.u_cache.u_store.lo[i];
    assign entry_hi_o[i]    = u_unit.u_cache.u_store.hi[i];

    logic [PtrWidth-1:0] word0, word1, head, next;
    assign word0           = u_unit.u_cache.u_store.ptr0[i];
    assign word1           = u_unit.u_cache.u_store.ptr1[i];
    assign head            = flip ? word1 : word0;
    assign next            = flip ? word0 : word1;
    assign entry_head_o[i] = head_known ? 64'(head) : '0;
    assign entry_next_o[i] = next_known ? 64'(next) : '0;
  end

endmodule
