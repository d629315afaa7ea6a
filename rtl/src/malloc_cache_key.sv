// Range key of a size: its class index, or the size itself (docs/isa.md, "State").
//
// The index is (s + 7) >> 3 up to 1024 and (s + 15487) >> 7 above. As 15487 = 120 * 128 + 127, both
// are a division that rounds up, the second one plus 120; at 1024 they agree (128 = 8 + 120), so
// the choice needs only the upper bits of the size.
module malloc_cache_key #(
  parameter int unsigned KeyWidth  = 12,
  parameter int unsigned SizeWidth = malloc_cache_pkg::SizeWidth,
  // The size is known to be the last one of its key, so there is nothing to round up.
  parameter bit          Aligned   = 1'b0
) (
  input  logic                 index_i,
  input  logic [SizeWidth-1:0] size_i,
  output logic [KeyWidth-1:0]  key_o,
  output logic                 ok_o,       // the size has a key
  output logic                 aligned_o   // the size is the last one of its key
);

  import malloc_cache_pkg::IndexWidth;

  // Wide enough for the largest index: 2^13 steps of 128 bytes and the offset.
  localparam int unsigned FullWidth = SizeWidth - 6;

  logic                 is_large, rest;
  logic [FullWidth-1:0] steps, offset, index;
  logic                 index_ok, size_ok;

  assign is_large  = |size_i[SizeWidth-1:10];
  assign rest   = is_large ? |size_i[6:0] : |size_i[2:0];
  assign steps  = is_large ? {1'b0, size_i[SizeWidth-1:7]} : FullWidth'(size_i[9:3]);
  assign offset = is_large ? FullWidth'(120) : '0;
  assign index  = steps + offset + ((Aligned || !rest) ? '0 : FullWidth'(1));

  assign index_ok = ((index >> IndexWidth) == '0) && ((index >> KeyWidth) == '0);
  assign size_ok  = (size_i >> KeyWidth) == '0;

  assign key_o     = index_i ? KeyWidth'(index) : KeyWidth'(size_i);
  assign ok_o      = index_i ? index_ok : size_ok;
  assign aligned_o = !index_i || !rest;

endmodule
