// Types and constants of the malloc cache. The contract is docs/isa.md; the operation codes are
// those of crates/mcache/include/mcache.h.
package malloc_cache_pkg;

  // Widths of an entry's fields (Mallacc paper, section 6.4).
  parameter int unsigned ClassWidth = 8;
  parameter int unsigned SizeWidth  = 20;
  parameter int unsigned IndexWidth = 12;
  parameter int unsigned OpWidth    = 4;

  typedef enum logic [OpWidth-1:0] {
    OpLookup         = 4'd0,
    OpUpdate         = 4'd1,
    OpPop            = 4'd2,
    OpPush           = 4'd3,
    OpPrefetchNext   = 4'd4,
    OpPrefetchHead   = 4'd5,
    OpInvalidate     = 4'd6,
    OpFlush          = 4'd7,
    OpFlushLists     = 4'd8,
    OpSquashList     = 4'd9,
    OpSquashPrefetch = 4'd10,
    OpSquashUpdate   = 4'd11,
    OpReturn         = 4'd12,  // made from the memory port; illegal on the request port
    OpSample         = 4'd13,  // handled by malloc_sampler
    OpSampleSet      = 4'd14,  // handled by malloc_sampler
    OpConfig         = 4'd15   // bit 0 of operand a: class index on
  } op_e;

  // How the words of an entry are stored.
  parameter int unsigned StorageFlop  = 0;  // flip-flops with a recirculating enable
  parameter int unsigned StorageGated = 1;  // flip-flops behind a clock gate per word
  parameter int unsigned StorageLatch = 2;  // latches behind a clock gate per word

endpackage
