// First cycle of an operation: range keys and the checks that need the operands alone.
module malloc_cache_decode
  import malloc_cache_pkg::*;
#(
  parameter int unsigned PtrWidth  = 48,
  parameter int unsigned KeyWidth  = 12,
  parameter int unsigned Xlen      = 64
) (
  input  logic                  index_i,
  input  op_e                   op_i,
  input  logic [Xlen-1:0]       a_i,
  input  logic [Xlen-1:0]       b_i,
  input  logic [Xlen-1:0]       c_i,

  output logic [KeyWidth-1:0]   lo_o,     // key of the requested size
  output logic [KeyWidth-1:0]   hi_o,     // key of the block size; for a lookup as lo_o
  output logic [ClassWidth-1:0] class_o,
  output logic [SizeWidth-1:0]  size_o,   // block size
  output logic [PtrWidth-1:0]   ptr_o,
  output logic                  class_ok_o,
  output logic                  operands_ok_o
);

  logic                lo_ok, hi_ok, hi_aligned, unused_lo_aligned;
  logic                a_is_size, b_is_size, sizes_ok, ptr_ok;
  logic [KeyWidth-1:0] lo, hi;
  logic [Xlen-1:0]     class_word;

  malloc_cache_key #(
    .KeyWidth(KeyWidth)
  ) u_lo (
    .index_i,
    .size_i   (a_i[SizeWidth-1:0]),
    .key_o    (lo),
    .ok_o     (lo_ok),
    .aligned_o(unused_lo_aligned)
  );

  malloc_cache_key #(
    .KeyWidth(KeyWidth),
    .Aligned (1'b1)
  ) u_hi (
    .index_i,
    .size_i   (b_i[SizeWidth-1:0]),
    .key_o    (hi),
    .ok_o     (hi_ok),
    .aligned_o(hi_aligned)
  );

  assign class_word = (op_i == OpUpdate) ? c_i : a_i;
  assign class_o    = class_word[ClassWidth-1:0];
  assign class_ok_o = (class_word >> ClassWidth) == '0;

  assign lo_o   = lo;
  assign hi_o   = (op_i == OpLookup) ? lo : hi;
  assign size_o = b_i[SizeWidth-1:0];
  assign ptr_o  = b_i[PtrWidth-1:0];

  assign a_is_size = (a_i >> SizeWidth) == '0;
  assign b_is_size = (b_i >> SizeWidth) == '0;
  assign sizes_ok  = a_is_size & b_is_size & lo_ok & hi_ok & hi_aligned &
                     (b_i[SizeWidth-1:0] >= a_i[SizeWidth-1:0]);
  assign ptr_ok    = (b_i != '0) && ((b_i >> PtrWidth) == '0);

  always_comb begin
    unique case (op_i)
      OpLookup: operands_ok_o = a_is_size & lo_ok;
      OpUpdate: operands_ok_o = sizes_ok & class_ok_o;
      OpConfig: operands_ok_o = a_i[0];
      default:  operands_ok_o = ptr_ok;
    endcase
  end

endmodule
