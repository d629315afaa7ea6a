// Proof obligation for G4 (docs/isa.md): if the key of a size is at most the key of a block size
// that the update accepts, the size is at most the block size. Combinational, all sizes.
module key_order
  import malloc_cache_pkg::*;
#(
  parameter int unsigned KeyWidth = 12
) (
  input logic                 clk_i,
  input logic                 index_i,
  input logic [SizeWidth-1:0] size_i,
  input logic [SizeWidth-1:0] block_i
);

  logic [KeyWidth-1:0] size_key, block_key;
  logic                size_ok, block_ok, size_aligned, block_aligned;

  malloc_cache_key #(
    .KeyWidth(KeyWidth)
  ) u_size (
    .index_i,
    .size_i,
    .key_o    (size_key),
    .ok_o     (size_ok),
    .aligned_o(size_aligned)
  );

  malloc_cache_key #(
    .KeyWidth(KeyWidth),
    .Aligned (1'b1)
  ) u_block (
    .index_i,
    .size_i   (block_i),
    .key_o    (block_key),
    .ok_o     (block_ok),
    .aligned_o(block_aligned)
  );

  // The index as the paper gives it, in full width.
  logic [31:0] paper;
  assign paper = (32'(size_i) <= 1024) ? (32'(size_i) + 7) >> 3 : (32'(size_i) + 15487) >> 7;

  always_ff @(posedge clk_i) begin
    HitIsLargeEnough : assert (!(size_ok && block_ok && block_aligned && size_key <= block_key) ||
                               size_i <= block_i);
    KeysFollowSizes : assert (!(size_ok && block_ok && block_aligned && size_i <= block_i) ||
                              size_key <= block_key);
    IndexIsThePapers : assert (!index_i || (size_ok == (paper < 4096) &&
                               (!size_ok || 32'(size_key) == paper)));
    KeyIsTheSize : assert (index_i || (size_ok == (32'(size_i) < 2 ** KeyWidth) &&
                           (!size_ok || 32'(size_key) == 32'(size_i))));
    AlignedIsTheLast : assert (!(index_i && size_aligned) || paper !=
                               ((32'(size_i) < 1024) ? (32'(size_i) + 8) >> 3
                                                     : (32'(size_i) + 15488) >> 7));
  end

endmodule
