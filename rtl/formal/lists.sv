// G1 (docs/isa.md): a valid Head is the first object of the class's list and a valid Next the
// second, if software keeps its promises. One class is watched; by symmetry it stands for all.
//
// The list is modelled by its first two objects; what lies deeper is any. That allows more
// behaviours than a real list has, so what holds here holds for real lists. All other classes,
// flushes, squashes, wrong paths, memory timing and order are unconstrained.
module lists
  import malloc_cache_pkg::*;
#(
  parameter int unsigned Entries   = 2,
  parameter int unsigned PtrWidth  = 2,
  parameter int unsigned KeyWidth  = 2,
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
  input logic [Xlen-1:0]     mem_rsp_data_i,
  input logic [PtrWidth-1:0] any_head_i,     // objects that come into view
  input logic [PtrWidth-1:0] any_next_i,
  input logic                wrong_path_i    // the next operation begins a wrong path
);

  localparam logic [ClassWidth-1:0] Watched = 8'd1;

  typedef logic [PtrWidth-1:0] ptr_t;

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic                req_ready, rsp_valid, rsp_hit, rsp_wait, rsp_violation, mem_valid;
  logic                mem_rsp_ready;
  ptr_t                rsp_first, rsp_second, mem_addr;
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

  // The list of the watched class, and what the program did to it last.
  typedef enum logic [1:0] { Other, AfterHit, AfterMiss, Empty } last_e;

  ptr_t  head_q = '0, next_q = '0, popped_q = '0;
  last_e last_q = Other;

  // Wrong path: at most a pop or push, then at most a prefetch; squashed in reverse.
  logic wrong_q = 1'b0, wrong_list_q = 1'b0, wrong_load_q = 1'b0;

  // The operation being executed.
  op_e             op_q = OpLookup;
  logic            watched_q = 1'b0, wrong_op_q = 1'b0;
  ptr_t            ptr_q = '0;
  logic            accept, watched, done;

  assign accept  = started_q && req_valid_i && req_ready;
  assign watched = (req_a_i == Xlen'(Watched));
  assign done    = rsp_valid && !rsp_wait;

  always_ff @(posedge clk_i) begin
    if (accept) begin
      op_q       <= req_op_i;
      watched_q  <= watched;
      ptr_q      <= req_b_i[PtrWidth-1:0];
      wrong_op_q <= wrong_q || wrong_path_i;
    end
  end

  // Loads that are out: whether the word is one of the watched list, and which.
  logic [Entries-1:0] out_q = '0, right_q = '0;
  ptr_t               word_q[Entries];

  logic issued, returned;
  assign issued   = mem_valid && mem_ready_i;
  assign returned = mem_rsp_valid_i && mem_rsp_ready;

  for (genvar i = 0; i < Entries; i++) begin : gen_load
    always_ff @(posedge clk_i) begin
      if (issued && (mem_tag == TagWidth'(i))) begin
        out_q[i]   <= 1'b1;
        right_q[i] <= watched_q && !wrong_op_q;
        word_q[i]  <= (op_q == OpPrefetchNext) ? next_q : head_q;
      end else if (returned && (mem_rsp_tag_i == TagWidth'(i))) begin
        out_q[i] <= 1'b0;
      end
    end
  end

  // What comes into view is on the list once.
  ptr_t deeper;
  assign deeper = (next_q == '0) ? '0 : any_next_i;

  always_ff @(posedge clk_i) begin
    if (done && watched_q && !wrong_op_q) begin
      unique case (op_q)
        OpPop: begin
          if (head_q == '0) begin
            last_q <= Empty;
          end else begin
            last_q   <= rsp_hit ? AfterHit : AfterMiss;
            popped_q <= head_q;
            head_q   <= next_q;
            next_q   <= deeper;
          end
        end
        OpPush: begin
          last_q <= Other;
          head_q <= ptr_q;
          next_q <= head_q;
        end
        OpInvalidate: begin
          // The slow path: the list is a new one.
          last_q <= Other;
          head_q <= any_head_i;
          next_q <= (any_head_i == '0) ? '0 : any_next_i;
        end
        OpPrefetchNext, OpPrefetchHead: last_q <= Other;
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept && wrong_path_i) wrong_q <= 1'b1;
    if (done && watched_q && wrong_op_q) begin
      if ((op_q == OpPop) || (op_q == OpPush)) wrong_list_q <= 1'b1;
      if (issued) wrong_load_q <= 1'b1;
      if (op_q == OpSquashPrefetch) wrong_load_q <= 1'b0;
      if (op_q == OpSquashList) begin
        wrong_list_q <= 1'b0;
        wrong_q      <= 1'b0;
      end
    end
  end

  // Assumptions: the promises of software, the memory port, and a core that squashes correctly.
  always_ff @(posedge clk_i) begin
    if (started_q) begin
      NoReturn : assume (req_op_i != OpReturn);
      // One answer per load; the word is what memory held in program order.
      AnswersWhatIsOut : assume (!mem_rsp_valid_i || out_q[mem_rsp_tag_i]);
      AnswersTheWord : assume (!mem_rsp_valid_i || !right_q[mem_rsp_tag_i] ||
                               (mem_rsp_data_i == Xlen'(word_q[mem_rsp_tag_i])));
      // An object is on the list once.
      NewHead : assume ((any_head_i == '0) || (any_head_i != any_next_i));
      NewNext : assume ((any_next_i == '0) || ((any_next_i != head_q) && (any_next_i != next_q)));
      WrongPathsDoNotNest : assume (!wrong_path_i || !wrong_q);
      if (accept && watched && !wrong_q && !wrong_path_i) begin
        // The program's own operations.
        unique case (req_op_i)
          OpPop: PopAfterRefill : assume (last_q != Empty);
          OpPush: begin
            PushOfAFreeObject : assume ((last_q != Empty) && (req_b_i[PtrWidth-1:0] != '0) &&
                                        (req_b_i[PtrWidth-1:0] != head_q) &&
                                        (req_b_i[PtrWidth-1:0] != next_q) &&
                                        (req_b_i >> PtrWidth == '0));
          end
          OpPrefetchNext: PrefetchNextAfterHit : assume ((last_q == AfterHit) &&
                                                         (req_b_i == Xlen'(head_q)));
          OpPrefetchHead: PrefetchHeadAfterMiss : assume ((last_q == AfterMiss) &&
                                                          (req_b_i == Xlen'(popped_q)));
          default: ;
        endcase
      end
      if (accept && watched && (wrong_q || wrong_path_i)) begin
        // A wrong path begins with a list operation, may load, and ends with the squashes.
        unique case (req_op_i)
          OpPop, OpPush: FirstTheList : assume (!wrong_list_q && !wrong_load_q);
          OpPrefetchNext, OpPrefetchHead: ThenTheLoad : assume (wrong_list_q && !wrong_load_q);
          OpInvalidate: NoSlowPath : assume (1'b0);
          OpSquashList: LoadFirst : assume (!wrong_load_q && wrong_q);
          default: ;
        endcase
      end
    end
  end

  // G1.
  for (genvar i = 0; i < Entries; i++) begin : gen_entry
    logic here;
    ptr_t head, next;
    assign here = started_q && dut.u_control.valid_q[i] &&
                  (dut.u_store.classes[i] == Watched) && !wrong_q;
    assign head = dut.u_control.flip_q[i] ? dut.u_store.ptr1[i] : dut.u_store.ptr0[i];
    assign next = dut.u_control.flip_q[i] ? dut.u_store.ptr0[i] : dut.u_store.ptr1[i];

    always_ff @(posedge clk_i) begin
      HeadIsTheFirst : assert (!(here && dut.u_control.head_q[i]) || (head == head_q));
      NextIsTheSecond : assert (!(here && dut.u_control.next_q[i]) || (next == next_q));
      NeverNull : assert (!(here && dut.u_control.head_q[i]) || (head != '0));
      // Not vacuous: both can be known.
      ReachBothKnown : assert (!(here && dut.u_control.next_q[i]));
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q && done && watched_q && !wrong_op_q && (op_q == OpPop) && rsp_hit) begin
      PopIsTheFirst : assert (rsp_first == head_q);
      PopKnowsTheSecond : assert (rsp_second == next_q);
      ReachHit : assert (1'b0);
    end
    if (started_q && issued && watched_q && !wrong_op_q) begin
      ReachLoadOfNext : assert (op_q != OpPrefetchNext);
      ReachLoadOfHead : assert (op_q != OpPrefetchHead);
    end
    if (started_q) begin
      ReachSquash : assert (!(done && (op_q == OpSquashList) && wrong_q && wrong_list_q));
    end
  end

endmodule
