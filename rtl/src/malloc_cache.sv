// The malloc cache: a small, fully associative memory of size classes and the first two objects of
// their free lists. docs/isa.md is the contract.
//
// An operation takes two cycles: it is accepted (req_valid_i and req_ready_o) and decoded in the
// first and answered in the second (rsp_valid_o, for one cycle). While one is executed, none is
// accepted. A prefetch that needs a load holds its second cycle until the memory port has taken
// the request. Returning words have priority over requests and execute like an operation.
//
// The memory port must answer each request exactly once, with any delay and in any order, by tag,
// and 0 after a fault; mem_ready_i must not wait for mem_rsp_ready_o.
module malloc_cache
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 16,           // 4, 8, 16 or 32
  parameter int unsigned PtrWidth  = 48,           // 32 or 48
  parameter int unsigned KeyWidth  = IndexWidth,   // 12, or 20 to cache all sizes without index
  parameter int unsigned Storage   = StorageFlop,  // StorageFlop, StorageGated or StorageLatch
  parameter int unsigned Xlen      = 64,           // width of operands: 32 or 64
  localparam int unsigned TagWidth = $clog2(Entries)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Requests.
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  op_e                 req_op_i,
  input  logic [Xlen-1:0]     req_a_i,
  input  logic [Xlen-1:0]     req_b_i,
  input  logic [Xlen-1:0]     req_c_i,

  // Answers.
  output logic                rsp_valid_o,
  output logic                rsp_hit_o,
  output logic                rsp_wait_o,
  output logic                rsp_violation_o,
  output logic [PtrWidth-1:0] rsp_first_o,
  output logic [PtrWidth-1:0] rsp_second_o,

  // Loads of prefetches.
  output logic                mem_valid_o,
  input  logic                mem_ready_i,
  output logic [PtrWidth-1:0] mem_addr_o,
  output logic [TagWidth-1:0] mem_tag_o,
  input  logic                mem_rsp_valid_i,
  output logic                mem_rsp_ready_o,
  input  logic [TagWidth-1:0] mem_rsp_tag_i,
  input  logic [Xlen-1:0]     mem_rsp_data_i
);

`ifndef MALLOC_CACHE_ANY_SIZE  // the formal proofs use smaller ones
  if (!(Entries inside {4, 8, 16, 32})) begin : gen_bad_entries
    $error("malloc_cache: Entries = %0d: must be 4, 8, 16 or 32", Entries);
  end
  if (!(PtrWidth inside {32, 48})) begin : gen_bad_ptr
    $error("malloc_cache: PtrWidth = %0d: must be 32 or 48", PtrWidth);
  end
  if (!(KeyWidth inside {12, 20})) begin : gen_bad_key
    $error("malloc_cache: KeyWidth = %0d: must be 12 or 20", KeyWidth);
  end
  if (!(Xlen inside {32, 64}) || Xlen < PtrWidth) begin : gen_bad_xlen
    $error("malloc_cache: Xlen = %0d: must be 32 or 64 and hold a pointer", Xlen);
  end
  if (!(Storage inside {StorageFlop, StorageGated, StorageLatch})) begin : gen_bad_storage
    $error("malloc_cache: Storage = %0d: must be 0 (flop), 1 (gated) or 2 (latch)", Storage);
  end
`endif

  // First cycle: accept a returning word, else a request, and decode it.
  typedef struct packed {
    op_e                   op;
    logic [KeyWidth-1:0]   lo;
    logic [KeyWidth-1:0]   hi;
    logic [ClassWidth-1:0] cls;
    logic [SizeWidth-1:0]  size;
    logic [PtrWidth-1:0]   ptr;
    logic [TagWidth-1:0]   tag;
    logic                  class_ok;
    logic                  operands_ok;
  } operation_t;

  logic       exec_q, accept, done, index;
  operation_t operation_q, operation_d;

  assign mem_rsp_ready_o = !exec_q;
  assign req_ready_o     = !exec_q && !mem_rsp_valid_i;
  assign accept          = !exec_q && (mem_rsp_valid_i || req_valid_i);

  assign operation_d.op  = mem_rsp_valid_i ? OpReturn : req_op_i;
  assign operation_d.tag = mem_rsp_tag_i;

  malloc_cache_decode #(
    .PtrWidth(PtrWidth),
    .KeyWidth(KeyWidth),
    .Xlen    (Xlen)
  ) u_decode (
    .index_i      (index),
    .op_i         (operation_d.op),
    .a_i          (req_a_i),
    .b_i          (mem_rsp_valid_i ? mem_rsp_data_i : req_b_i),
    .c_i          (req_c_i),
    .lo_o         (operation_d.lo),
    .hi_o         (operation_d.hi),
    .class_o      (operation_d.cls),
    .size_o       (operation_d.size),
    .ptr_o        (operation_d.ptr),
    .class_ok_o   (operation_d.class_ok),
    .operands_ok_o(operation_d.operands_ok)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      exec_q <= 1'b0;
    end else if (accept) begin
      exec_q <= 1'b1;
    end else if (done) begin
      exec_q <= 1'b0;
    end
  end

  malloc_cache_word #(
    .Width  ($bits(operation_t)),
    // A latch would still be open when the operation executes.
    .Storage(Storage == StorageLatch ? StorageGated : Storage)
  ) u_operation (
    .clk_i,
    .en_i(accept),
    .d_i (operation_d),
    .q_o (operation_q)
  );

  // Second cycle: execute.
  logic [Entries-1:0]    in_range, same_class, sel, lo_we, map_we;
  logic [Entries-1:0]    ptr_we[2];
  logic [Entries-1:0]    ptr_we_fired[2];
  logic [KeyWidth-1:0]   sel_lo;
  logic [ClassWidth-1:0] sel_class;
  logic [SizeWidth-1:0]  sel_size;
  logic [PtrWidth-1:0]   sel_ptr[2];
  logic                  issue, fire;

  assign done = exec_q && (!issue || mem_ready_i);
  assign fire = done;

  assign ptr_we_fired[0] = ptr_we[0] & {Entries{fire}};
  assign ptr_we_fired[1] = ptr_we[1] & {Entries{fire}};

  malloc_cache_store #(
    .Entries (Entries),
    .PtrWidth(PtrWidth),
    .KeyWidth(KeyWidth),
    .Storage (Storage)
  ) u_store (
    .clk_i,
    .lo_i        (operation_q.lo),
    .hi_i        (operation_q.hi),
    .class_i     (operation_q.cls),
    .size_i      (operation_q.size),
    .ptr_i       (operation_q.ptr),
    .lo_we_i     (lo_we & {Entries{fire}}),
    .map_we_i    (map_we & {Entries{fire}}),
    .ptr_we_i    (ptr_we_fired),
    .in_range_o  (in_range),
    .same_class_o(same_class),
    .sel_i       (sel),
    .sel_lo_o    (sel_lo),
    .sel_class_o (sel_class),
    .sel_size_o  (sel_size),
    .sel_ptr_o   (sel_ptr)
  );

  malloc_cache_control #(
    .Entries (Entries),
    .PtrWidth(PtrWidth),
    .KeyWidth(KeyWidth)
  ) u_control (
    .clk_i,
    .rst_ni,
    .fire_i       (fire),
    .op_i         (operation_q.op),
    .lo_i         (operation_q.lo),
    .size_i       (operation_q.size),
    .ptr_i        (operation_q.ptr),
    .tag_i        (operation_q.tag),
    .class_ok_i   (operation_q.class_ok),
    .operands_ok_i(operation_q.operands_ok),
    .index_o      (index),
    .in_range_i   (in_range),
    .same_class_i (same_class),
    .sel_o        (sel),
    .sel_lo_i     (sel_lo),
    .sel_class_i  (sel_class),
    .sel_size_i   (sel_size),
    .sel_ptr_i    (sel_ptr),
    .lo_we_o      (lo_we),
    .map_we_o     (map_we),
    .ptr_we_o     (ptr_we),
    .hit_o        (rsp_hit_o),
    .wait_o       (rsp_wait_o),
    .violation_o  (rsp_violation_o),
    .issue_o      (issue),
    .tag_o        (mem_tag_o),
    .first_o      (rsp_first_o),
    .second_o     (rsp_second_o)
  );

  assign rsp_valid_o = done && (operation_q.op != OpReturn);
  assign mem_valid_o = exec_q && issue;
  assign mem_addr_o  = operation_q.ptr;

`ifdef MALLOC_CACHE_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoReturnAsRequest : assert (!(req_valid_i && req_ready_o) || req_op_i != OpReturn);
      // G6: an operation without a load is answered in its second cycle.
      TwoCycles : assert (!exec_q || done || mem_valid_o);
      // G4: the block of a lookup hit is large enough. (The key order is proved in formal/.)
      HitNeedsGoodOperands : assert (!(rsp_valid_o && operation_q.op == OpLookup && rsp_hit_o) ||
                                     operation_q.operands_ok);
      WaitingIsNotAHit : assert (!rsp_valid_o || !(rsp_wait_o && rsp_hit_o));
      LoadOfAPointer : assert (!mem_valid_o || mem_addr_o != '0);
    end
  end
`endif

endmodule
