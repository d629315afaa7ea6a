// Second cycle of an operation: which entry it concerns, what becomes of the entries' state bits,
// which words are written and what is answered. docs/isa.md is the specification.
module malloc_cache_control
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 16,
  parameter int unsigned PtrWidth  = 48,
  parameter int unsigned KeyWidth  = 12,
  localparam int unsigned TagWidth = $clog2(Entries)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // The operation; it takes effect at the clock edge where fire_i is high.
  input  logic                  fire_i,
  input  op_e                   op_i,
  input  logic [KeyWidth-1:0]   lo_i,
  input  logic [SizeWidth-1:0]  size_i,
  input  logic [PtrWidth-1:0]   ptr_i,
  input  logic [TagWidth-1:0]   tag_i,
  input  logic                  class_ok_i,
  input  logic                  operands_ok_i,
  output logic                  index_o,        // the class index is on

  // Store: matches, selection, selected words, write enables.
  input  logic [Entries-1:0]    in_range_i,
  input  logic [Entries-1:0]    same_class_i,
  output logic [Entries-1:0]    sel_o,
  input  logic [KeyWidth-1:0]   sel_lo_i,
  input  logic [ClassWidth-1:0] sel_class_i,
  input  logic [SizeWidth-1:0]  sel_size_i,
  input  logic [PtrWidth-1:0]   sel_ptr_i[2],
  output logic [Entries-1:0]    lo_we_o,
  output logic [Entries-1:0]    map_we_o,
  output logic [Entries-1:0]    ptr_we_o[2],

  // Answer.
  output logic                  hit_o,
  output logic                  wait_o,
  output logic                  violation_o,
  output logic                  issue_o,        // needs a load; tag_o is its tag
  output logic [TagWidth-1:0]   tag_o,
  output logic [PtrWidth-1:0]   first_o,        // class of a lookup, head of a pop
  output logic [PtrWidth-1:0]   second_o        // size of a lookup, next of a pop
);

  typedef logic [Entries-1:0] mask_t;

  // State bits of the entries. An invalid entry has none of the others except pending.
  mask_t valid_q, valid_d;        // holds a class
  mask_t head_q, head_d;          // Head is known
  mask_t next_q, next_d;          // Next is known
  mask_t flip_q, flip_d;          // Head is in pointer word 1, Next in word 0
  mask_t pending_q, pending_d;    // a prefetch is out
  mask_t blocked_q, blocked_d;    // and still belongs to the entry
  logic  index_q, index_d;

  // Matches.
  mask_t by_range, by_class, by_tag, oldest;
  assign by_range  = in_range_i & valid_q;
  assign by_class = same_class_i & valid_q & {Entries{class_ok_i}};
  assign by_tag  = mask_t'(1) << tag_i;

  always_comb begin
    unique case (op_i)
      OpLookup: sel_o = by_range & {Entries{operands_ok_i}};
      OpReturn: sel_o = by_tag;
      default:  sel_o = by_class;
    endcase
  end

  // What is known of the selected entry.
  logic found, has_head, has_next, flipped, is_pending, is_blocked, is_head, same_size, is_lower;
  assign found      = |sel_o;
  assign has_head   = |(sel_o & head_q);
  assign has_next   = |(sel_o & next_q);
  assign flipped    = |(sel_o & flip_q);
  assign is_pending = |(sel_o & pending_q);
  assign is_blocked = |(sel_o & blocked_q);
  assign same_size  = sel_size_i == size_i;
  assign is_lower   = lo_i < sel_lo_i;

  logic [PtrWidth-1:0] head, next;
  assign head    = flipped ? sel_ptr_i[1] : sel_ptr_i[0];
  assign next    = flipped ? sel_ptr_i[0] : sel_ptr_i[1];
  assign is_head = has_head && (head == ptr_i);

  // Update: entries it drops, the entry it goes to.
  mask_t overlapped, left, lowest_free, target;
  logic  fresh;
  assign overlapped  = by_range & ~by_class;
  assign left        = valid_q & ~overlapped;
  assign lowest_free = ~left & (left + mask_t'(1));
  assign target      = found ? by_class : ((&left) ? oldest : lowest_free);
  assign fresh       = !found || !same_size;

  // Decisions of the other operations.
  logic popped, pushed, wanted, filled;
  assign popped = found & ~is_blocked & has_head & has_next;
  assign pushed = found & ~is_blocked & operands_ok_i & ~is_head;
  assign wanted = found & ~is_pending & operands_ok_i &
                  ((op_i == OpPrefetchNext) ? (is_head & ~has_next) : ~has_head);
  assign filled = is_blocked & operands_ok_i & ~is_head;

  // Next state. `drop_list` and `drop` forget parts of entries; the rest is by operation.
  mask_t drop_list, drop, touch, write_head, write_next;

  always_comb begin
    drop_list  = '0;
    drop       = '0;
    touch      = '0;
    lo_we_o    = '0;
    map_we_o   = '0;
    write_head = '0;
    write_next = '0;
    valid_d    = valid_q;
    head_d     = head_q;
    next_d     = next_q;
    flip_d     = flip_q;
    pending_d  = pending_q;
    blocked_d  = blocked_q;
    index_d    = index_q;
    unique case (op_i)
      OpLookup: touch = sel_o;
      OpUpdate: begin
        if (operands_ok_i) begin
          drop      = overlapped & ~target;  // the target may take a slot dropped just now
          valid_d   = valid_q | target;
          drop_list = fresh ? target : '0;
          map_we_o  = fresh ? target : '0;
          lo_we_o   = (fresh || is_lower) ? target : '0;
          touch     = target;
        end else begin
          drop = by_class;
        end
      end
      OpPop: begin
        if (!is_blocked) begin
          touch  = by_class;
          next_d = next_q & ~by_class;
          flip_d = popped ? flip_q ^ by_class : flip_q;
          if (!popped) head_d = head_q & ~by_class;
        end
      end
      OpPush: begin
        if (!is_blocked) begin
          touch = by_class;
          if (pushed) begin
            write_next = by_class;  // where Next was is where the new Head goes
            flip_d     = flip_q ^ by_class;
            head_d     = head_q | by_class;
            next_d     = has_head ? next_q | by_class : next_q & ~by_class;
          end else begin
            drop_list = by_class;
          end
        end
      end
      OpPrefetchNext, OpPrefetchHead: begin
        touch = is_pending ? '0 : by_class;
        if (wanted) begin
          pending_d = pending_q | by_class;
          blocked_d = blocked_q | by_class;
        end
      end
      OpInvalidate, OpSquashList: drop_list = by_class;
      OpFlush:                    drop = '1;
      OpFlushLists:               drop_list = '1;
      OpSquashUpdate:             drop = by_class;
      OpSquashPrefetch: begin
        blocked_d = blocked_q & ~by_class;
        if (!is_blocked) begin
          next_d = next_q & ~by_class;
          if (!has_next) head_d = head_q & ~by_class;
        end
      end
      OpReturn: begin
        pending_d = pending_q & ~by_tag;
        blocked_d = blocked_q & ~by_tag;
        if (filled) begin
          write_head = has_head ? '0 : by_tag;
          write_next = has_head ? by_tag : '0;
          head_d     = head_q | by_tag;
          next_d     = has_head ? next_q | by_tag : next_q;
        end
      end
      OpConfig: begin
        index_d = operands_ok_i;
        drop    = {Entries{index_q != operands_ok_i}};
      end
      default: ;  // sampling operations are not for the cache
    endcase
    valid_d   &= ~drop;
    head_d    &= ~(drop | drop_list);
    next_d    &= ~(drop | drop_list);
    blocked_d &= ~(drop | drop_list);
  end

  for (genvar w = 0; w < 2; w++) begin : gen_ptr_we
    // Head is in word `flip`, Next in the other one.
    mask_t in_this;
    assign in_this     = (w == 0) ? ~flip_q : flip_q;
    assign ptr_we_o[w] = (write_head & in_this) | (write_next & ~in_this);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      head_q    <= '0;
      next_q    <= '0;
      flip_q    <= '0;
      pending_q <= '0;
      blocked_q <= '0;
      index_q   <= 1'b1;
    end else if (fire_i) begin
      valid_q   <= valid_d;
      head_q    <= head_d;
      next_q    <= next_d;
      flip_q    <= flip_d;
      pending_q <= pending_d;
      blocked_q <= blocked_d;
      index_q   <= index_d;
    end
  end
  assign index_o = index_q;

  malloc_cache_lru #(
    .Entries(Entries)
  ) u_lru (
    .clk_i,
    .rst_ni,
    .en_i    (fire_i),
    .touch_i (touch),
    .oldest_o(oldest)
  );

  // Answer.
  always_comb begin
    hit_o       = 1'b0;
    wait_o      = 1'b0;
    violation_o = 1'b0;
    first_o     = '0;
    second_o    = '0;
    unique case (op_i)
      OpLookup: begin
        hit_o    = found;
        first_o  = PtrWidth'(sel_class_i);
        second_o = PtrWidth'(sel_size_i);
      end
      OpUpdate: violation_o = !operands_ok_i;
      OpPop: begin
        hit_o    = popped;
        wait_o   = is_blocked;
        first_o  = popped ? head : '0;
        second_o = popped ? next : '0;
      end
      OpPush: begin
        hit_o       = pushed;
        wait_o      = is_blocked;
        violation_o = !class_ok_i || (found && !is_blocked && !pushed);
      end
      OpPrefetchNext, OpPrefetchHead: begin
        hit_o  = wanted;
        wait_o = is_pending;
      end
      default: ;
    endcase
  end

  assign issue_o = wanted && ((op_i == OpPrefetchNext) || (op_i == OpPrefetchHead));

  always_comb begin
    tag_o = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      tag_o |= TagWidth'(i) & {TagWidth{by_class[i]}};
    end
  end

`ifdef MALLOC_CACHE_ASSERT
  function automatic logic at_most_one(mask_t mask);
    return (mask & (mask - mask_t'(1))) == '0;
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // G3: a lookup and a class match at most one entry.
      ClassesAreUnique : assert (!fire_i || at_most_one(by_class));
      LookupMatchesAtMostOne : assert (!fire_i || op_i != OpLookup || at_most_one(sel_o));
      // Next is never known without Head.
      NextNeedsHead : assert ((next_q & ~head_q) == '0);
      BlockedIsPending : assert ((blocked_q & ~pending_q) == '0);
      InvalidKnowsNothing : assert (((head_q | next_q | blocked_q) & ~valid_q) == '0);
      // A prefetch always has an empty place to fill.
      BlockedHasNoNext : assert ((blocked_q & next_q) == '0);
      // One write per pointer pair, and never a Head that is null.
      OneWordWritten : assert ((ptr_we_o[0] & ptr_we_o[1]) == '0);
      WrittenIsGood : assert (((write_head | write_next) == '0) || operands_ok_i);
    end
  end
`endif

endmodule
