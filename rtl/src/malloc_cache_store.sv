// The words of all entries, and which entries an operation's key range or class matches.
//
// A written word is always an operand: pointers never move between Head and Next (the entry's
// `flip` bit says which is which), so no word needs a multiplexer at its input.
module malloc_cache_store
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries  = 16,
  parameter int unsigned PtrWidth = 48,
  parameter int unsigned KeyWidth = 12,
  parameter int unsigned Storage  = StorageFlop
) (
  input  logic                  clk_i,

  // Operands: written words, and what is compared.
  input  logic [KeyWidth-1:0]   lo_i,
  input  logic [KeyWidth-1:0]   hi_i,
  input  logic [ClassWidth-1:0] class_i,
  input  logic [SizeWidth-1:0]  size_i,
  input  logic [PtrWidth-1:0]   ptr_i,

  // Write enables.
  input  logic [Entries-1:0]    lo_we_i,
  input  logic [Entries-1:0]    map_we_i,      // hi, class, size
  input  logic [Entries-1:0]    ptr_we_i[2],

  // Matches, without regard to validity.
  output logic [Entries-1:0]    in_range_o,    // entry range and [lo_i, hi_i] overlap
  output logic [Entries-1:0]    same_class_o,

  // The words of the selected entry (one-hot), zero if none is selected.
  input  logic [Entries-1:0]    sel_i,
  output logic [KeyWidth-1:0]   sel_lo_o,
  output logic [ClassWidth-1:0] sel_class_o,
  output logic [SizeWidth-1:0]  sel_size_o,
  output logic [PtrWidth-1:0]   sel_ptr_o[2]
);

  localparam int unsigned MapWidth = KeyWidth + ClassWidth + SizeWidth;

  logic [KeyWidth-1:0]   lo     [Entries];
  logic [KeyWidth-1:0]   hi     [Entries];
  logic [ClassWidth-1:0] classes[Entries];
  logic [SizeWidth-1:0]  size   [Entries];
  logic [PtrWidth-1:0]   ptr0   [Entries];
  logic [PtrWidth-1:0]   ptr1   [Entries];

  for (genvar i = 0; i < Entries; i++) begin : gen_entry
    malloc_cache_word #(
      .Width  (KeyWidth),
      .Storage(Storage)
    ) u_lo (
      .clk_i,
      .en_i(lo_we_i[i]),
      .d_i (lo_i),
      .q_o (lo[i])
    );

    malloc_cache_word #(
      .Width  (MapWidth),
      .Storage(Storage)
    ) u_map (
      .clk_i,
      .en_i(map_we_i[i]),
      .d_i ({hi_i, class_i, size_i}),
      .q_o ({hi[i], classes[i], size[i]})
    );

    malloc_cache_word #(
      .Width  (PtrWidth),
      .Storage(Storage)
    ) u_ptr0 (
      .clk_i,
      .en_i(ptr_we_i[0][i]),
      .d_i (ptr_i),
      .q_o (ptr0[i])
    );

    malloc_cache_word #(
      .Width  (PtrWidth),
      .Storage(Storage)
    ) u_ptr1 (
      .clk_i,
      .en_i(ptr_we_i[1][i]),
      .d_i (ptr_i),
      .q_o (ptr1[i])
    );

    assign in_range_o[i]   = (lo[i] <= hi_i) && (lo_i <= hi[i]);
    assign same_class_o[i] = classes[i] == class_i;
  end

  always_comb begin
    sel_lo_o     = '0;
    sel_class_o  = '0;
    sel_size_o   = '0;
    sel_ptr_o[0] = '0;
    sel_ptr_o[1] = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      sel_lo_o     |= lo[i] & {KeyWidth{sel_i[i]}};
      sel_class_o  |= classes[i] & {ClassWidth{sel_i[i]}};
      sel_size_o   |= size[i] & {SizeWidth{sel_i[i]}};
      sel_ptr_o[0] |= ptr0[i] & {PtrWidth{sel_i[i]}};
      sel_ptr_o[1] |= ptr1[i] & {PtrWidth{sel_i[i]}};
    end
  end

endmodule
